// Credit by turn: what a turn earned goes to the turns up to it.

#include <algorithm>

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "record/reward_terms.h"

namespace hone::methods {
namespace {

// The epsilon of the authors' normalisation.
Normaliser MtNormaliser(Alone alone) {
  Normaliser normaliser = MeanAndDeviation(alone);
  normaliser.epsilon = 1e-4;
  return normaliser;
}

// What a trajectory's calls earned and `gamma` times its outcome; absent where either is. Where
// nobody called, calls earned nothing.
Values CallsAndOutcome(const Selection& calls, const Selection& outcome, double gamma) {
  return [=](const Group& group) {
    UnitValues values = TrajectorySums(group, calls);
    const UnitValues outcomes = TrajectorySums(group, outcome);
    const bool nobody = std::all_of(group.trajectories.begin(), group.trajectories.end(),
                                    [](const Trajectory& one) { return one.actions.empty(); });
    for (size_t i = 0; i < values.size(); ++i) {
      if (nobody) values[i][0] = 0;
      if (values[i][0] && outcomes[i][0]) {
        *values[i][0] += gamma * *outcomes[i][0];
      } else {
        values[i][0].reset();
      }
    }
    return values;
  };
}

Channel Outcome(const Selection& outcome, const Normaliser& normaliser, TokenMask mask) {
  Channel channel;
  channel.name = "outcome";
  channel.values = OutcomeSum(outcome);
  channel.normaliser = normaliser;
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
  method.channels = {Outcome(outcome, MeanAndDeviation(Alone::kZero), TokenMask::kAll)};
  method.estimators = {
      TurnsToGo("turns", turns, options->Number("gamma", 1, 0, 1), options->Number("weight", 1))};
  method.promises.shift_invariant = true;
  return method;
}

}  // namespace

Method MtGrpo(MethodOptions* options) {
  Method method;
  const Selection outcome = OutcomeTerms(options), calls = CallTerms(options);
  method.about = "outcome everywhere; what the calls earned up to the first result";
  method.needs = "an outcome per trajectory, terms on calls";
  ReadBoth(outcome, {calls, /*on_calls=*/true}, &method);
  const std::string variant = options->Choice("variant", {"aae", "cae", "turns"}, "aae");
  const double kappa = options->Number("kappa", 1), gamma = options->Number("gamma", 1, 0, 1);
  const Alone alone = AloneOf(options, Alone::kRaw);
  method.promises.shift_invariant = true;
  if (variant == "turns") {
    method.channels = {Outcome(outcome, MeanAndDeviation(alone), TokenMask::kAll)};
    method.estimators = {TurnsToGo("turns", calls, gamma, kappa)};
    return method;
  }
  const bool apart = variant == "aae";
  // Before the first result: both, each compared on its own; or (cae) one comparison of their sum.
  Channel turn;
  turn.name = "turn";
  turn.values = apart ? OutcomeSum(calls) : CallsAndOutcome(calls, outcome, gamma);
  turn.normaliser = MtNormaliser(alone);
  turn.weight = apart ? kappa : 1;
  turn.mask = TokenMask::kBeforeResult;
  // Where no tool answered there is no before and after: one comparison of the sum, for all tokens.
  Channel combined = turn;
  combined.name = "combined";
  combined.values = CallsAndOutcome(calls, outcome, 1);
  combined.weight = 1;
  combined.mask = TokenMask::kWithoutResult;
  method.channels = {Outcome(outcome, MtNormaliser(alone),
                             apart ? TokenMask::kWithResult : TokenMask::kAfterResult),
                     std::move(turn), std::move(combined)};
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
