// No group: returns, whitened over all tokens of the batch.

#include "credit/gae.h"
#include "credit/methods/all.h"
#include "credit/methods/parts.h"
#include "credit/shapers.h"

namespace hone::methods {

Method ReinforcePlusPlus(MethodOptions* options) {
  Method method;
  method.about = "discounted returns, whitened over the batch's tokens";
  method.needs = "rewards where they were earned; a batch of several groups";
  method.reads = {options->Names("terms", {"*"}), {}};
  const double gamma = options->Number("gamma", 1, 0, 1);
  const Selection reads = method.reads;
  // The return is carried across tool results unchanged: they are not on the axis.
  method.estimators = {{"return", [=](const Group& group, CreditBuilder* builder) {
                          const UnitValues sums = TrajectorySums(group, reads);
                          for (size_t i = 0; i < sums.size(); ++i) {
                            const Trajectory& trajectory = group.trajectories[i];
                            if (!trajectory.counts) continue;
                            if (!sums[i][0]) {
                              builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no reward");
                              continue;
                            }
                            std::vector<float> returns = RewardsOnTokens(trajectory, reads);
                            const std::vector<float> zeros(returns.size(), 0.0f);
                            TokenGae({gamma, 1}, returns, zeros, returns);
                            builder->AddEach(i, returns);
                          }
                        }}};
  method.shapers = {WhitenTokens()};
  return method;
}

Method ReinforcePlusPlusBaseline(MethodOptions* options) {
  Method method = OutcomeOnly(options, {.alone = AloneOf(options, Alone::kZero)});
  method.about = "the group's mean off, then whitened over the batch's tokens";
  method.shapers = {WhitenTokens()};
  return method;
}

}  // namespace hone::methods
