// OTC-PO: a right answer is worth less the more calls it took.

#include <algorithm>
#include <limits>

#include "credit/gae.h"
#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "credit/shapers.h"
#include "record/economy.h"

namespace hone::methods {
namespace {

// The fewest calls of a right trajectory, this group included: a new record must not be scored
// against the old one.
double FewestCalls(const Group& group, const IsRight& right, double known) {
  double fewest = known < 0 ? std::numeric_limits<double>::infinity() : known;
  for (const Trajectory& trajectory : group.trajectories) {
    if (trajectory.counts && right(group, trajectory)) {
      fewest = std::min(fewest, static_cast<double>(trajectory.Calls()));
    }
  }
  return fewest;
}

// The outcome times the factor where it is right; others keep theirs, so that calls are never
// punished in a trajectory that failed.
Values Discounted(const Values& outcome, const IsRight& right,
                  std::function<double(double calls, double fewest)> factor, double known) {
  return [=](const Group& group) {
    UnitValues values = outcome(group);
    const double fewest = FewestCalls(group, right, known);
    for (size_t i = 0; i < values.size(); ++i) {
      const Trajectory& trajectory = group.trajectories[i];
      if (values[i][0] && right(group, trajectory)) {
        *values[i][0] *= factor(trajectory.Calls(), fewest);
      }
    }
    return values;
  };
}

}  // namespace

Method OtcGrpo(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(AloneOf(options, Alone::kRaw)));
  method.about = "the outcome times sin of how near the calls are to the fewest, then GRPO";
  method.needs = "an outcome per trajectory, calls on the record";
  const double smooth = options->Number("smooth", 8, 0), known = options->Number("fewest", -1, -1);
  const IsRight right = CorrectOnly(options, method.reads);
  method.channels[0].values = Discounted(
      method.channels[0].values, right,
      [smooth](double calls, double fewest) { return OtcGrpoFactor(calls, fewest, smooth); },
      known);
  method.promises.shift_invariant = false;
  return method;
}

Method OtcPpo(MethodOptions* options) {
  Method method;
  method.about = "the outcome times cos of the number of calls, then token GAE";
  method.needs = "an outcome per trajectory, calls on the record, a critic's values";
  method.reads = OutcomeTerms(options);
  const double smooth = options->Number("smooth", 8, 0);
  const GaeDecay decay{options->Number("gamma", 1, 0, 1), options->Number("lambda", 1, 0, 1)};
  const Values rewards = Discounted(
      OutcomeSum(method.reads), CorrectOnly(options, method.reads),
      [smooth](double calls, double) { return OtcPpoFactor(calls, smooth); }, -1);
  const auto advantages_of = [=](const Group& group, const Trajectory& trajectory, double reward) {
    std::vector<float> advantages(trajectory.tokens, 0.0f);
    advantages.back() = static_cast<float>(reward);
    TokenGae(decay, advantages, ValuesOnTokens(group, trajectory), advantages);
    return advantages;
  };
  method.critic_targets = [=](const Group& group, size_t i) {
    const Trajectory& trajectory = group.trajectories[i];
    const std::optional<double> reward = rewards(group)[i][0];
    if (!reward || trajectory.tokens == 0) return std::vector<float>(trajectory.tokens, 0.0f);
    std::vector<float> targets = advantages_of(group, trajectory, *reward);
    const std::vector<float> values = ValuesOnTokens(group, trajectory);
    for (size_t t = 0; t < targets.size(); ++t) targets[t] += values[t];
    return targets;
  };
  method.estimators = {{"gae", [=](const Group& group, CreditBuilder* builder) {
                          const UnitValues values = rewards(group);
                          if (group.values == nullptr) {
                            builder->Remark(NoteKind::kNoCritic, -1,
                                            "no critic: its values are taken as 0");
                          }
                          for (size_t i = 0; i < values.size(); ++i) {
                            const Trajectory& trajectory = group.trajectories[i];
                            if (!values[i][0] && trajectory.counts) {
                              builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no outcome");
                            }
                            if (!values[i][0] || trajectory.tokens == 0) continue;
                            builder->AddEach(i, advantages_of(group, trajectory, *values[i][0]));
                          }
                        }}};
  if (options->Flag("whiten", true)) method.shapers = {WhitenTokens()};
  return method;
}

}  // namespace hone::methods
