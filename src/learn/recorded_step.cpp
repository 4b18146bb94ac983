#include "learn/recorded_step.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "credit/methods.h"
#include "learn/update.h"

namespace hone {
namespace {

// The advantages of every record's leaves that belong into the loss, and how shared tokens count.
struct CreditedRecords {
  std::vector<std::vector<Advantages>> advantages;
  SharedTokens shared = SharedTokens::kRepeat;
};

Result<CreditedRecords> CreditOf(std::span<const ScoredTree> records, const std::string& spec) {
  CreditedRecords credited;
  if (spec.empty()) {
    for (const ScoredTree& record : records) credited.advantages.push_back(record.advantages);
    const bool any = std::any_of(records.begin(), records.end(), [](const ScoredTree& record) {
      return !record.advantages.empty();
    });
    if (any) return credited;
    return Error(ErrorCode::kInvalidArgument,
                 "the trees have no advantages; name a method of credit, such as grpo");
  }
  HONE_ASSIGN_OR_RETURN(const Method method, NewMethod(spec));
  std::vector<CreditInput> inputs;
  for (const ScoredTree& record : records) inputs.push_back({&record, nullptr});
  HONE_ASSIGN_OR_RETURN(const std::vector<Credit> credits, AssignCredit(method, inputs));
  for (const Credit& credit : credits) credited.advantages.push_back(AdvantagesInLoss(credit));
  credited.shared = method.shared;
  return credited;
}

}  // namespace

Result<RecordedStep> LearnFromRecords(std::span<const ScoredTree> records,
                                      const RecordedStepOptions& options, Engine* engine) {
  if (options.objective.NeedsReference() || options.objective.NeedsCritic()) {
    return Error(ErrorCode::kInvalidArgument,
                 "a loss with a reference or a critic needs a training run (hone train)");
  }
  for (size_t i = 0; i < records.size(); ++i) {
    if (const Result<void> fits = engine->CheckTree(records[i].tree); !fits.ok()) {
      return Error(fits.error().code(),
                   fmt::format("tree {} is not of this model: {}", i + 1, fits.error().message()));
    }
  }
  HONE_ASSIGN_OR_RETURN(const CreditedRecords credited, CreditOf(records, options.method));
  RecordedStep step;
  std::vector<TrainingGroup> groups;
  for (size_t i = 0; i < records.size(); ++i) {
    TrainingGroup group = MakeTrainingGroup(records[i].tree, credited.advantages[i]);
    if (group.sequences.empty()) {
      ++step.without;
      continue;
    }
    step.trajectories += static_cast<int64_t>(group.sequences.size());
    groups.push_back(std::move(group));
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
                    .shared = credited.shared},
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
