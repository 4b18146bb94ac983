// What needs a critic: advantages by generalised advantage estimation at token, turn and both
// levels.

#include "credit/gae.h"
#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "credit/shapers.h"
#include "record/reward_terms.h"

namespace hone::methods {
namespace {

using PerTrajectory = std::function<std::vector<float>(const Group&, size_t)>;

Estimator ForScored(std::string name, const Selection& reads, PerTrajectory estimate) {
  return {std::move(name), [=](const Group& group, CreditBuilder* builder) {
            if (group.values == nullptr) {
              builder->Remark(NoteKind::kNoCritic, -1, "no critic: its values are taken as 0");
            }
            const UnitValues sums = TrajectorySums(group, reads);
            for (size_t i = 0; i < sums.size(); ++i) {
              if (!group.trajectories[i].counts) continue;
              if (!sums[i][0]) {
                builder->Remark(NoteKind::kUnscored, group.trajectories[i].leaf, "no reward");
              } else {
                builder->AddEach(i, estimate(group, i));
              }
            }
          }};
}

// Advantages before they are whitened, plus the values that they were measured against.
PerTrajectory TargetsOf(PerTrajectory estimate) {
  return [=](const Group& group, size_t i) {
    std::vector<float> targets = estimate(group, i);
    const std::vector<float> values = ValuesOnTokens(group, group.trajectories[i]);
    for (size_t t = 0; t < targets.size(); ++t) targets[t] += values[t];
    return targets;
  };
}

void Estimate(const PerTrajectory& estimate, Method* method) {
  method->estimators = {ForScored("gae", method->reads, estimate)};
  method->critic_targets = TargetsOf(estimate);
}

Method WithCritic(MethodOptions* options) {
  Method method;
  method.needs = "rewards where they were earned, a critic's values";
  method.reads = {options->Names("terms", {"*"}), {}};
  return method;
}

void MayWhiten(MethodOptions* options, bool undiscounted, Method* method) {
  const bool whiten = options->Flag("whiten", true);
  if (whiten) method->shapers = {WhitenTokens()};
  method->promises.unbiased = undiscounted && !whiten;
}

std::vector<double> OfTurns(const Group& group, size_t i, const Selection& reads) {
  std::vector<double> rewards(group.trajectories[i].turns.size(), 0);
  const std::vector<float> on_tokens = RewardsOnTokens(group.trajectories[i], reads);
  for (size_t k = 0; k < rewards.size(); ++k) {
    const Span& tokens = group.trajectories[i].turns[k].tokens;
    for (int32_t t = tokens.begin; t < tokens.end; ++t) rewards[k] += on_tokens[t];
  }
  return rewards;
}

}  // namespace

Method GaeToken(MethodOptions* options) {
  Method method = WithCritic(options);
  method.about = "generalised advantage estimation over the policy's tokens (PPO)";
  const GaeDecay decay{options->Number("gamma", 1, 0, 1), options->Number("lambda", 1, 0, 1)};
  const Selection reads = method.reads;
  Estimate(
      [=](const Group& group, size_t i) {
        std::vector<float> advantages = RewardsOnTokens(group.trajectories[i], reads);
        const std::vector<float> values = ValuesOnTokens(group, group.trajectories[i]);
        TokenGae(decay, advantages, values, advantages);
        return advantages;
      },
      &method);
  MayWhiten(options, decay.gamma == 1 && decay.lambda == 1, &method);
  return method;
}

Method GaeTurn(MethodOptions* options) {
  Method method = WithCritic(options);
  method.about = "the same over turns; all tokens of a turn share its advantage";
  const GaeDecay decay{options->Number("gamma", 1, 0, 1), options->Number("lambda", 1, 0, 1)};
  const Selection reads = method.reads;
  // Per turn; with the value at its first token, where the critic is asked, they are its target.
  const auto on_turns = [=](const Group& group, size_t i, bool with_values) {
    const Trajectory& trajectory = group.trajectories[i];
    const std::vector<float> values = ValuesOnTokens(group, trajectory);
    std::vector<double> first_values;
    for (const Turn& turn : trajectory.turns) first_values.push_back(values[turn.tokens.begin]);
    const auto of_turns = TurnGae(decay, OfTurns(group, i, reads), first_values);
    std::vector<float> advantages(trajectory.tokens);
    for (size_t k = 0; k < of_turns.size(); ++k) {
      const Span& tokens = trajectory.turns[k].tokens;
      std::fill(advantages.begin() + tokens.begin, advantages.begin() + tokens.end,
                static_cast<float>(of_turns[k] + (with_values ? first_values[k] : 0)));
    }
    return advantages;
  };
  method.estimators = {ForScored(
      "gae", reads, [=](const Group& group, size_t i) { return on_turns(group, i, false); })};
  method.critic_targets = [=](const Group& group, size_t i) { return on_turns(group, i, true); };
  MayWhiten(options, decay.gamma == 1 && decay.lambda == 1, &method);
  return method;
}

Method GaeTwoLevel(MethodOptions* options) {
  Method method = WithCritic(options);
  method.about = "turns first, then the tokens inside each turn (VAGEN)";
  const GaeDecay between{options->Number("gamma", 1, 0, 1), options->Number("lambda", 1, 0, 1)};
  const GaeDecay within{options->Number("gamma_within", 1, 0, 1),
                        options->Number("lambda_within", 1, 0, 1)};
  const Selection reads = method.reads;
  Estimate(
      [=](const Group& group, size_t i) {
        const Trajectory& trajectory = group.trajectories[i];
        std::vector<Span> turns;
        for (const Turn& turn : trajectory.turns) turns.push_back(turn.tokens);
        std::vector<float> advantages(trajectory.tokens);
        TwoLevelGae(between, within, turns, OfTurns(group, i, reads),
                    ValuesOnTokens(group, trajectory), advantages);
        return advantages;
      },
      &method);
  MayWhiten(options,
            between.gamma == 1 && between.lambda == 1 && within.gamma == 1 && within.lambda == 1,
            &method);
  return method;
}

// Turns are the steps of the process, the critic speaks at their boundaries.
Method TurnPpo(MethodOptions* options) {
  Method method = GaeTurn(options);
  method.about = "a decision process over turns with a critic at their boundaries";
  return method;
}

Method StepTool(MethodOptions* options) {
  Method method;
  method.about = "PPO with a reward per step: the call succeeded and contributed";
  method.needs = "terms execution and contribution on calls, the outcome, a critic's values";
  const double alpha = options->Number("alpha", 1, 0);
  const GaeDecay decay{options->Number("gamma", 0.99, 0, 1), options->Number("lambda", 1, 0, 1)};
  const Selection outcome = OutcomeTerms(options);
  const Selection steps{options->Names("steps", {kExecutionTerm, kContributionTerm}), {}};
  ReadBoth(outcome, {steps, /*on_calls=*/true}, &method);
  Estimate(
      [=](const Group& group, size_t i) {
        const Trajectory& trajectory = group.trajectories[i];
        std::vector<float> advantages = RewardsOnTokens(trajectory, steps);
        const std::vector<float> solved = RewardsOnTokens(trajectory, outcome);
        for (size_t t = 0; t < advantages.size(); ++t) {
          advantages[t] = static_cast<float>(alpha * advantages[t]) + solved[t];
        }
        TokenGae(decay, advantages, ValuesOnTokens(group, trajectory), advantages);
        return advantages;
      },
      &method);
  MayWhiten(options, false, &method);
  return method;
}

}  // namespace hone::methods
