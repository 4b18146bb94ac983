#include "rewards/switchboard_reward.h"

#include "record/reward_terms.h"
#include "rewards/outcome.h"

namespace hone {
namespace {

constexpr double kRightHere = 1, kWrongHere = -0.25;

std::vector<bool> RightCalls(const TrajectoryView& trajectory, const GoldCalls& gold) {
  if (std::optional<std::vector<bool>> said = trajectory.said_right()) return *std::move(said);
  std::vector<bool> right(trajectory.calls.size(), false);
  const CallScore score = ScoreCalls(trajectory.bare_calls(), gold);
  for (size_t i = 0; i < right.size(); ++i) {
    const int32_t index = score.gold_of[i];
    right[i] = index >= 0 && IsRightCall(*trajectory.calls[i].call, gold.calls[index]);
  }
  return right;
}

void AddOutcome(const TrajectoryView& trajectory, const Labels& labels, ProgramRunner* runner,
                std::vector<RewardTerm>* terms) {
  const Outcome outcome = OutcomeOf(trajectory, labels, AnswerKind::kExact, runner);
  if (!outcome.match && !outcome.fault) return;
  std::optional<double> value;
  if (outcome.match) value = outcome.match->match ? 1 : 0;
  terms->push_back(trajectory.AtAnswer(kOutcomeTerm, value));
  terms->back().fault = outcome.fault;
}

}  // namespace

std::unique_ptr<Rewarder> NewSwitchboardReward(ProgramRunner* runner) {
  return NewLeafRewarder([=](const TrajectoryView& trajectory, const Labels& labels) {
    std::vector<RewardTerm> terms;
    AddOutcome(trajectory, labels, runner, &terms);
    if (!labels.calls) return terms;
    const std::vector<bool> right = RightCalls(trajectory, *labels.calls);
    for (size_t i = 0; i < right.size(); ++i) {
      terms.push_back(
          trajectory.AtCall(kCallTerm, right[i] ? kRightHere : kWrongHere, trajectory.calls[i]));
    }
    size_t made = right.size();
    for (const TrajectoryView::MadeFault& fault : trajectory.faults) {
      // A turn without any action is no call: what it left out is missing.
      if (fault.fault->kind == FaultKind::kNoAction || fault.fault->span.empty()) continue;
      terms.push_back(trajectory.AtFault(kCallTerm, kWrongHere, fault));
      ++made;
    }
    const size_t wanted = labels.calls->calls.size();
    if (made >= wanted) terms.push_back(trajectory.AtAnswer(kOmittedTerm, 0));
    for (size_t i = made; i < wanted; ++i) {
      terms.push_back(trajectory.AtAnswer(kOmittedTerm, kWrongHere));
    }
    return terms;
  });
}

}  // namespace hone
