// Credit by turn: what a turn earned goes to the turns up to it.

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "record/reward_terms.h"

namespace hone::methods {
namespace {

// What the turns up to the first call earned.
Values FirstToolTurn(const Selection& calls) {
  return [=](const Group& group) {
    const UnitValues turns = TurnSums(group, calls);
    UnitValues values = TrajectorySums(group, calls);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i][0]) continue;
      double sum = 0;
      for (size_t k = 0; k < turns[i].size(); ++k) {
        sum += turns[i][k].value_or(0);
        if (!group.trajectories[i].turns[k].actions.empty()) break;
      }
      values[i][0] = sum;
    }
    return values;
  };
}

Channel Outcome(const Selection& outcome, Alone alone, TokenMask mask) {
  Channel channel;
  channel.name = "outcome";
  channel.values = OutcomeSum(outcome);
  channel.normaliser = MeanAndDeviation(alone);
  channel.mask = mask;
  return channel;
}

// For any number of turns: each turn's reward against the same turn of the group, carried back to
// the turns before with a discount.
Estimator TurnsToGo(std::string name, const Selection& terms, double gamma, double weight) {
  return {std::move(name), [=](const Group& group, CreditBuilder* builder) {
            UnitValues turns = TurnSums(group, terms);
            size_t longest = 0;
            for (const auto& of_one : turns) longest = std::max(longest, of_one.size());
            for (size_t k = 0; k < longest; ++k) {
              UnitValues at(turns.size());
              for (size_t i = 0; i < turns.size(); ++i) {
                at[i].resize(1);
                if (k < turns[i].size()) at[i][0] = turns[i][k];
              }
              at = GroupNormalised(std::move(at), MeanAndDeviation(Alone::kZero), false);
              for (size_t i = 0; i < turns.size(); ++i) {
                if (k < turns[i].size()) turns[i][k] = at[i][0];
              }
            }
            for (size_t i = 0; i < turns.size(); ++i) {
              const Trajectory& trajectory = group.trajectories[i];
              if (trajectory.counts && !turns[i].empty() && !turns[i][0]) {
                builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no rewards of turns");
              }
              double to_go = 0;
              for (size_t k = turns[i].size(); k-- > 0;) {
                to_go = turns[i][k].value_or(0) + gamma * to_go;
                if (to_go != 0) builder->Add(i, trajectory.turns[k].tokens, weight * to_go);
              }
            }
          }};
}

Method TurnRewards(MethodOptions* options, const std::vector<std::string>& names) {
  Method method;
  const Selection outcome = OutcomeTerms(options);
  const Selection turns{options->Names("turns", names), {}};
  ReadBoth(outcome, {turns, /*on_calls=*/true}, &method);
  method.needs = "an outcome per trajectory, terms " + names[0] + " on turns";
  method.channels = {Outcome(outcome, Alone::kZero, TokenMask::kAll)};
  method.estimators = {
      TurnsToGo("turns", turns, options->Number("gamma", 1, 0, 1), options->Number("weight", 1))};
  method.promises.shift_invariant = true;
  return method;
}

}  // namespace

Method MtGrpo(MethodOptions* options) {
  Method method;
  const Selection outcome = OutcomeTerms(options), calls = CallTerms(options);
  method.about = "outcome everywhere; what the tool turn earned up to the first result";
  method.needs = "an outcome per trajectory, terms on the tool turn";
  ReadBoth(outcome, {calls, /*on_calls=*/true}, &method);
  const std::string variant = options->Choice("variant", {"aae", "cae", "turns"}, "aae");
  const double kappa = options->Number("kappa", 1), gamma = options->Number("gamma", 1, 0, 1);
  const Alone alone = AloneOf(options, Alone::kRaw);
  method.promises.shift_invariant = true;
  if (variant == "turns") {
    method.channels = {Outcome(outcome, alone, TokenMask::kAll)};
    method.estimators = {TurnsToGo("turns", calls, gamma, kappa)};
    return method;
  }
  Channel turn;
  turn.name = "turn";
  turn.values = FirstToolTurn(calls);
  turn.normaliser = MeanAndDeviation(alone);
  turn.weight = kappa;
  turn.mask = TokenMask::kBeforeResult;
  if (variant == "aae") {
    method.channels = {Outcome(outcome, alone, TokenMask::kAll), std::move(turn)};
    return method;
  }
  // Before the first result one comparison of both together, behind it the outcome's alone.
  turn.weight = 1;
  turn.values = [first = turn.values, last = OutcomeSum(outcome), gamma](const Group& group) {
    UnitValues values = first(group);
    const UnitValues outcomes = last(group);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i][0] && outcomes[i][0]) {
        *values[i][0] += gamma * *outcomes[i][0];
      } else {
        values[i][0].reset();
      }
    }
    return values;
  };
  method.channels = {Outcome(outcome, alone, TokenMask::kAfterResult), std::move(turn)};
  return method;
}

Method Igpo(MethodOptions* options) {
  Method method = TurnRewards(options, {kInformationGainTerm});
  method.about = "outcome plus what each turn raised the probability of the gold answer";
  return method;
}

Method StepSearch(MethodOptions* options) {
  Method method = TurnRewards(options, {kInformationGainTerm, kRedundancyTerm});
  method.about = "outcome plus what each search found that was new, less what was not";
  return method;
}

}  // namespace hone::methods
