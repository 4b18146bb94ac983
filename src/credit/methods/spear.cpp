// SPEAR: pay for tool use early, imitate own good trajectories later.

#include "credit/methods/spear.h"

#include <algorithm>
#include <numbers>

#include "base/exact_math.h"
#include "credit/methods/all.h"
#include "credit/methods/parts.h"

namespace hone::methods {
namespace {

// Turns with a call that could be read: what cannot be read is not paid.
int64_t CallingTurns(const Trajectory& trajectory) {
  return std::count_if(trajectory.turns.begin(), trajectory.turns.end(), [&](const Turn& turn) {
    const auto begin = trajectory.actions.begin();
    return std::any_of(begin + turn.actions.begin, begin + turn.actions.end,
                       [](const Action& one) { return one.kind == ActionKind::kCall; });
  });
}

double HalfWave(double way) {
  double sine = 0, cosine = 0;
  SineCosine(std::numbers::pi * way, &sine, &cosine);
  return (1 + cosine) / 2;
}

}  // namespace

double SpearBonus(double step, double horizon) {
  return step > horizon || horizon <= 0 ? 0 : HalfWave(step / horizon);
}

double SpearReplayWeight(double step, double horizon) { return 1 - SpearBonus(step, horizon); }

Method Spear(MethodOptions* options) {
  Method method = OutcomeOnly(options, {});
  method.about = "the mean off; tool use is paid at first, then less and less";
  method.needs = "an outcome per trajectory, calls on the record, the training step";
  const double bonus =
      SpearBonus(options->Number("step", 0, 0), options->Number("horizon", 200, 0));
  const Values outcome = method.channels[0].values;
  method.channels[0].values = [=](const Group& group) {
    UnitValues values = outcome(group);
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i][0]) continue;
      const auto calling = static_cast<double>(CallingTurns(group.trajectories[i]));
      *values[i][0] += std::min(0.1 * calling, 1.0) * bonus;
    }
    return values;
  };
  method.filters.keep_share = options->Number("keep", 0.75, 0, 1);
  method.filters.spread_of = method.channels[0].values;  // the bonus included
  method.filters.mask_void = method.filters.mask_truncated = method.filters.mask_repetitive = true;
  return method;
}

// Trajectories from the replay buffer, recalibrated: what they earned above the median of recent
// groups' baselines, if that is above 0. The buffer (learn/good_trajectories.h) knows the two
// medians.
Method SpearReplay(MethodOptions* options) {
  Method method = OutcomeOnly(options, {.centre = Centre::kNone});
  method.about = "old good trajectories against the median of recent baselines";
  method.needs = "an outcome per trajectory, the replay buffer's medians";
  const double baseline = options->Number("baseline", 0),
               deviation = options->Number("deviation", 1, 1e-9),
               weight = SpearReplayWeight(options->Number("step", 200, 0),
                                          options->Number("horizon", 200, 0));
  const Values outcome = method.channels[0].values;
  method.channels[0].name = "replay";
  method.channels[0].weight = weight;
  method.channels[0].values = [=](const Group& group) {
    UnitValues values = outcome(group);
    for (auto& units : values) {
      if (units[0]) units[0] = std::max((*units[0] - baseline) / deviation, 0.0);
    }
    return values;
  };
  method.promises = {.shift_invariant = false};
  return method;
}

}  // namespace hone::methods
