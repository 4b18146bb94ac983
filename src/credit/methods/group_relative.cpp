// The group-relative family: one number per trajectory, compared with its siblings', on all tokens.

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "credit/shapers.h"

namespace hone::methods {

Method Reinforce(MethodOptions* options) {
  Method method = OutcomeOnly(options, {.centre = Centre::kNone});
  method.about = "the reward itself, no baseline";
  method.promises = {.unbiased = true, .shift_invariant = false};
  return method;
}

Method Grpo(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(AloneOf(options, Alone::kRaw)));
  method.about = "outcome minus the group's mean, divided by its deviation";
  return method;
}

Method DrGrpo(MethodOptions* options) {
  Method method = OutcomeOnly(options, {.alone = AloneOf(options, Alone::kRaw)});
  method.about = "outcome minus the group's mean";
  return method;
}

Method Rloo(MethodOptions* options) {
  Method method = OutcomeOnly(
      options, {.centre = Centre::kLeaveOneOut, .alone = AloneOf(options, Alone::kZero)});
  method.about = "outcome minus the mean of the others";
  method.promises.unbiased = true;
  return method;
}

// RLOO's advantage on whole episodes; a group of one is refused rather than guessed.
Method Loop(MethodOptions* options) {
  Method method = OutcomeOnly(options, {.centre = Centre::kLeaveOneOut});
  method.about = "leave-one-out on whole multi-turn episodes";
  method.promises.unbiased = true;
  return method;
}

Method LitePpo(MethodOptions* options) {
  Method method = OutcomeOnly(
      options, {.scale = Scale::kBatchDeviation, .alone = AloneOf(options, Alone::kZero)});
  method.about = "the group's mean off, divided by the batch's deviation";
  return method;
}

Method Opo(MethodOptions* options) {
  Method method =
      OutcomeOnly(options, {.centre = Centre::kLengthMean, .alone = AloneOf(options, Alone::kRaw)});
  method.about = "the length-weighted mean of the group off";
  return method;
}

Method Gpg(MethodOptions* options) {
  Method method =
      OutcomeOnly(options, {.scale = Scale::kNonzeroShare, .alone = AloneOf(options, Alone::kRaw)});
  method.about = "the group's mean off, divided by the share of rewards that are not 0";
  method.promises.shift_invariant = false;
  return method;
}

Method PassAtK(MethodOptions* options) {
  const bool scaled = options->Flag("deviation", true);
  Method method = OutcomeOnly(options, {.centre = Centre::kBestOverNext,
                                        .scale = scaled ? Scale::kGroupDeviation : Scale::kNone});
  method.about = "only the best of the group gets what it is above the second";
  return method;
}

Method EntropyMask(MethodOptions* options) {
  Method method = Grpo(options);
  method.about = "GRPO on the fifth of the tokens with the highest entropy";
  method.needs = "an outcome per trajectory, entropies";
  method.shapers = {KeepHighEntropy(options->Number("share", 0.2, 0, 1))};
  return method;
}

Method ToolOrchestra(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(Alone::kZero));
  method.about = "GRPO clipped to ±3, groups of little spread dropped";
  method.filters.least_deviation = options->Number("least_deviation", 0.1, 0);
  method.shapers = {ClipCredit(options->Number("clip", 3, 0))};
  return method;
}

}  // namespace hone::methods
