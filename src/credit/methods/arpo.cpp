// ARPO's two ways to credit trajectories that share a prefix, and Tree-GRPO's two levels.

#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "credit/shapers.h"

namespace hone::methods {

Method ArpoSoft(MethodOptions* options) {
  Method method = Grpo(options);
  method.about = "GRPO on every path of the branched tree";
  return method;
}

// The paper's sum runs over all trajectories: a shared token counts once per path through it, as in
// the soft variant, but with the mean advantage of those paths.
Method ArpoHard(MethodOptions* options) {
  Method method = Grpo(options);
  method.about = "GRPO; shared tokens get the mean of the paths through them";
  method.needs = "an outcome per trajectory, a branched tree";
  method.shapers = {AverageSharedTokens()};
  method.promises.flat = false;
  return method;
}

Method TreeGrpo(MethodOptions* options) {
  Method method = Grpo(options);
  method.about = "GRPO over all leaves plus GRPO over the leaves under the same first turn";
  method.needs = "an outcome per trajectory, a branched tree";
  method.channels[0].name = "inter";
  Channel intra = method.channels[0];
  intra.name = "intra";
  intra.key = GroupKey::kSubtree;
  intra.normaliser.alone = Alone::kZero;
  method.channels.push_back(std::move(intra));
  method.promises.flat = false;
  return method;
}

}  // namespace hone::methods
