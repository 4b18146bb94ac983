#include "learn/update.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"

namespace hone {
namespace {

std::vector<int64_t> TokensOf(std::span<const TrainingGroup> groups) {
  std::vector<int64_t> tokens;
  for (const TrainingGroup& group : groups) tokens.push_back(group.tokens);
  return tokens;
}

// Sampler and trainer are one engine: before the first update their log-probabilities have the same
// bits.
void CheckOnPolicy(const ObjectiveMetrics& first) {
  CHECK(first.ratio_one == first.tokens,
        fmt::format("{} of {} tokens of the first mini-batch have a ratio other than 1",
                    first.tokens - first.ratio_one, first.tokens));
}

}  // namespace

UpdateReport UpdatePolicy(const UpdateOptions& options, std::span<const TrainingGroup> groups,
                          const Rng& rng, Engine* engine) {
  UpdateReport report;
  const std::vector<MiniBatch> batches =
      MakeMiniBatches(options.batches, TokensOf(groups), rng.Split("mini-batches"));
  BatchOptions as_many = options.batches;
  as_many.mini_batches = static_cast<int64_t>(batches.size());
  as_many.epochs = 1;
  const std::vector<MiniBatch> replays =
      MakeMiniBatches(as_many, TokensOf(options.replayed), rng.Split("replay-batches"));

  const Slices slices(options.batches.slices, options.cluster);
  std::vector<ObjectiveMetrics> parts;
  for (size_t m = 0; m < batches.size(); ++m) {
    ObjectivePass pass({options.objective, groups, options.shared}, batches[m],
                       rng.Split("objective").Split(m), slices, engine);
    std::optional<ObjectivePass> replay;
    if (m < replays.size()) {
      replay.emplace(
          ObjectivePass::Given{options.replay_objective, options.replayed, options.shared},
          replays[m], rng.Split("replay-objective").Split(m), slices, engine);
    }
    int64_t imitated = 0;
    slices.Accumulate(engine, [&](int64_t slice) {
      if (!pass.Accumulate(slice)) return;  // all of it is forgotten
      if (replay) replay->Accumulate(slice);
      if (options.imitate && slice == 0) {
        imitated = options.imitate(pass.tokens(), rng.Split("demonstrations").Split(m));
      }
    });
    parts.push_back(pass.Metrics());
    if (m == 0 && options.on_policy) CheckOnPolicy(parts[0]);
    if (!std::isfinite(parts[m].loss)) {
      engine->ForgetGradients();
      ++report.skipped;
      continue;
    }
    report.imitated_tokens += imitated;
    const double norm = engine->Step(options.optimizer);
    ++report.steps;
    // The largest; one that is no number stays, or the next one would hide it.
    if (std::isfinite(report.largest_gradient) && !(norm <= report.largest_gradient)) {
      report.largest_gradient = norm;
    }
  }
  if (!parts.empty()) report.first = parts[0];
  report.all = Combine(parts);
  return report;
}

}  // namespace hone
