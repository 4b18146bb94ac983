// ToolPO: the outcome for all tokens, what calls earn for the tokens of calls.

#include <algorithm>

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "record/economy.h"

namespace hone::methods {
namespace {

// What folding saved: a folded trajectory against the mean length of the group's others.
double FoldPreferenceOf(const Group& group, const Trajectory& trajectory) {
  if (!trajectory.folded) return 0;
  double direct = 0;
  int count = 0;
  for (const Trajectory& other : group.trajectories) {
    if (other.folded || !other.counts || other.score == nullptr) continue;
    direct += other.length;
    ++count;
  }
  return count == 0 ? 0 : FoldPreference(direct / count, trajectory.length);
}

// What the calls of each trajectory earned. Where nobody was paid for calls and somebody folded,
// nothing: what folding saved is paid all the same.
UnitValues EarnedByActions(const Group& group, const Selection& calls) {
  UnitValues values = TrajectorySums(group, calls);
  const auto folded = [](const Trajectory& one) { return one.counts && one.folded; };
  if (AnyValue(group, calls) ||
      std::none_of(group.trajectories.begin(), group.trajectories.end(), folded)) {
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Trajectory& one = group.trajectories[i];
    if (one.counts && one.score != nullptr && Total(*one.score)) values[i] = {0.0};
  }
  return values;
}

Channel OutcomeChannel(const Selection& outcome, TokenMask mask) {
  Channel channel;
  channel.name = "outcome";
  channel.values = OutcomeSum(outcome);
  channel.mask = mask;
  return channel;
}

// R_action: what all calls of the trajectory earned together, or on average, and the preference.
Channel ActionChannel(MethodOptions* options, const Selection& calls, TokenMask mask) {
  const double calls_weight = options->Number("lambda1", 1),
               fold_weight = options->Number("lambda2", 1);
  const bool mean = options->Choice("over", {"sum", "mean"}, "sum") == "mean";
  Channel channel;
  channel.name = "action";
  channel.mask = mask;
  channel.values = [=](const Group& group) {
    UnitValues values = EarnedByActions(group, calls);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i][0]) continue;
      const Trajectory& trajectory = group.trajectories[i];
      double earned = *values[i][0];
      if (mean) earned /= std::max(trajectory.Calls(), 1);
      values[i][0] = calls_weight * earned + fold_weight * FoldPreferenceOf(group, trajectory);
    }
    return values;
  };
  return channel;
}

Channel PerCallChannel(MethodOptions* options, const Selection& calls) {
  const std::string baseline =
      options->Choice("baseline", {"position", "pooled", "none"}, "position");
  Channel channel;
  channel.name = "call";
  channel.unit = Unit::kAction;
  channel.values = [=](const Group& group) { return CallSums(group, calls); };
  channel.key = baseline == "position" ? GroupKey::kPosition : GroupKey::kTree;
  if (baseline == "none") channel.normaliser.centre = Centre::kNone;
  channel.weight = options->Number("weight", 1);
  channel.mask = TokenMask::kOwn;
  return channel;
}

Method TwoChannels(MethodOptions* options, TokenMask outcome_mask, TokenMask action_mask) {
  Method method;
  const Selection outcome = OutcomeTerms(options), calls = CallTerms(options);
  method.needs = "an outcome per trajectory, terms on calls";
  ReadBoth(outcome, {calls, /*on_calls=*/true}, &method);
  method.channels = {OutcomeChannel(outcome, outcome_mask),
                     ActionChannel(options, calls, action_mask)};
  ReadNorm(options, &method);
  method.promises.shift_invariant = true;
  return method;
}

}  // namespace

Method ToolPo(MethodOptions* options) {
  Method method = TwoChannels(options, TokenMask::kAll, TokenMask::kActions);
  ReadThoughts(options, &method);
  method.about = "outcome on all tokens, the sum of what calls earned on their tokens";
  return method;
}

Method ToolPoPerCall(MethodOptions* options) {
  Method method;
  const Selection outcome = OutcomeTerms(options), calls = CallTerms(options);
  method.about = "outcome on all tokens, each call's own reward on its own tokens";
  method.needs = "an outcome per trajectory, terms on calls";
  ReadBoth(outcome, {calls, /*on_calls=*/true}, &method);
  method.channels = {OutcomeChannel(outcome, TokenMask::kAll), PerCallChannel(options, calls)};
  ReadNorm(options, &method);
  ReadThoughts(options, &method);
  method.promises.shift_invariant = true;
  return method;
}

Method ToolPoSplit(MethodOptions* options) {
  Method method = ToolPoPerCall(options);
  method.about = "the outcome kept off the tokens of calls: a right call is never punished";
  method.channels[0].mask = TokenMask::kOffActions;
  method.channels[1].keep_sign = true;
  return method;
}

// The controls: the same rewards, elsewhere.

Method Smeared(MethodOptions* options) {
  Method method = TwoChannels(options, TokenMask::kAll, TokenMask::kAll);
  method.about = "control: ToolPO's rewards smeared over all tokens";
  return method;
}

Method Placebo(MethodOptions* options) {
  Method method = TwoChannels(options, TokenMask::kAll, TokenMask::kPlacebo);
  ReadThoughts(options, &method);
  method.about = "control: ToolPO's action credit on tokens outside the calls";
  return method;
}

}  // namespace hone::methods
