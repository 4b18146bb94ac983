#include "learn/recorded_step.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "credit/methods.h"
#include "learn/step.h"
#include "learn/update.h"

namespace hone {
namespace {

// The credit that the records bring along.
Result<CreditedGroups> CreditAsRecorded(std::vector<ScoredTree> records) {
  if (std::all_of(records.begin(), records.end(),
                  [](const ScoredTree& record) { return record.advantages.empty(); })) {
    return Error(ErrorCode::kInvalidArgument,
                 "the trees have no advantages; name a method of credit, such as grpo");
  }
  CreditedGroups credited;
  for (const ScoredTree& record : records) {
    credited.credits.push_back({.advantages = record.advantages});
  }
  credited.records = std::move(records);
  return credited;
}

}  // namespace

Result<RecordedStep> LearnFromRecords(std::span<const ScoredTree> records,
                                      const RecordedStepOptions& options, Engine* engine) {
  const ObjectiveOptions& objective = options.objective;
  if (objective.NeedsReference() || objective.NeedsCritic() || objective.learn_results) {
    return Error(ErrorCode::kInvalidArgument,
                 "a loss with a reference or a critic, or one that learns results, needs a "
                 "training run (hone train)");
  }
  for (size_t i = 0; i < records.size(); ++i) {
    if (const Result<void> fits = engine->CheckTree(records[i].tree); !fits.ok()) {
      return Error(fits.error().code(),
                   fmt::format("tree {} is not of this model: {}", i + 1, fits.error().message()));
    }
  }
  Method method;
  if (!options.method.empty()) {
    HONE_ASSIGN_OR_RETURN(method, NewMethod(options.method));
  }
  HONE_ASSIGN_OR_RETURN(
      const CreditedGroups credited,
      options.method.empty()
          ? CreditAsRecorded({records.begin(), records.end()})
          : CreditGroups({.method = method}, {records.begin(), records.end()}, {}));
  HONE_ASSIGN_OR_RETURN(const std::vector<TrainingGroup> groups,
                        TrainingGroupsOf(method, credited));
  RecordedStep step;
  step.without = static_cast<int64_t>(records.size() - groups.size());
  for (const TrainingGroup& group : groups) {
    step.trajectories += static_cast<int64_t>(group.sequences.size());
  }
  step.trees = static_cast<int64_t>(groups.size());
  if (groups.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("there is nothing to learn from in {} trees: none has a trajectory "
                             "with a reward whose tokens were drawn (temperature above 0)",
                             records.size()));
  }
  const UpdateReport update =
      UpdatePolicy({.objective = options.objective,
                    .optimizer = options.optimizer,
                    .batches = options.batches,
                    .shared = method.shared},
                   groups, Rng(options.seed).Split("recorded-step"), engine);
  if (update.skipped > 0 || !std::isfinite(update.largest_gradient)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the loss or its gradient is no number; look at the rewards, or lower the "
                 "learning rate");
  }
  step.first = update.first;
  step.all = update.all;
  step.largest_gradient = update.largest_gradient;
  return step;
}

}  // namespace hone
