#include "evaluate/pass_at_k.h"

#include <map>

namespace hone {
namespace {

// The probability that k of n, drawn without putting back, are all among `good` of them.
double AllAmong(int64_t good, int64_t n, int64_t k) {
  double probability = 1;
  for (int64_t i = 0; i < k; ++i) {
    if (good - i <= 0) return 0;
    probability *= static_cast<double>(good - i) / static_cast<double>(n - i);
  }
  return probability;
}

struct TaskTally {
  int64_t done = 0, all = 0;
};

}  // namespace

std::vector<PassShare> PassesOf(std::span<const Measures> measures, int64_t samples, Rng rng,
                                const BootstrapOptions& options) {
  std::map<std::string_view, TaskTally> tasks;
  for (const Measures& m : measures) {
    if (!m.counts || !m.success) continue;
    TaskTally& tally = tasks[m.task];
    ++tally.all;
    tally.done += *m.success ? 1 : 0;
  }
  std::vector<int64_t> sizes;
  for (int64_t k = 1; k < samples; k *= 2) sizes.push_back(k);
  sizes.push_back(samples);
  std::vector<PassShare> passes;
  for (const int64_t k : sizes) {
    PassShare& pass = passes.emplace_back();
    pass.k = k;
    Ratio one, every;
    for (const auto& [task, tally] : tasks) {
      if (tally.all < k) continue;
      ++pass.tasks;
      one.above.push_back(1 - AllAmong(tally.all - tally.done, tally.all, k));
      every.above.push_back(AllAmong(tally.done, tally.all, k));
    }
    one.below = every.below = std::vector<double>(one.above.size(), 1);
    const std::vector<Ratio> both = {std::move(one), std::move(every)};
    const auto values = BootstrapRatios(both, rng.Split(static_cast<uint64_t>(k)), options);
    pass.one = values[0];
    pass.every = values[1];
  }
  return passes;
}

Json ToJson(std::span<const PassShare> passes) {
  const auto interval = [](const std::optional<Interval>& value) {
    if (!value) return Json();
    return Json::Of({{"value", value->value}, {"low", value->low}, {"high", value->high}});
  };
  Json::Array out;
  for (const PassShare& pass : passes) {
    out.push_back(Json::Of({{"k", pass.k},
                            {"tasks", pass.tasks},
                            {"one", interval(pass.one)},
                            {"every", interval(pass.every)}}));
  }
  return out;
}

}  // namespace hone
