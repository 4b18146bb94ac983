#include "learn/update.h"

#include <cmath>

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

  std::vector<ObjectiveMetrics> parts;
  for (size_t m = 0; m < batches.size(); ++m) {
    parts.push_back(AccumulateObjective(options.objective, groups, batches[m], options.shared,
                                        rng.Split("objective").Split(m), engine));
    if (m == 0 && options.on_policy) CheckOnPolicy(parts[0]);
    if (!std::isfinite(parts[m].loss)) {
      engine->ForgetGradients();
      ++report.skipped;
      continue;
    }
    if (m < replays.size()) {
      AccumulateObjective(options.replay_objective, options.replayed, replays[m], options.shared,
                          rng.Split("replay-objective").Split(m), engine);
    }
    if (options.imitate) {
      report.imitated_tokens +=
          options.imitate(parts[m].tokens, rng.Split("demonstrations").Split(m));
    }
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
