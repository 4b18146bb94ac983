// DAPO and its relatives: GRPO's advantage with filters and a penalty on length.

#include "credit/methods/dapo.h"

#include <algorithm>

#include "credit/methods/all.h"
#include "credit/methods/parts.h"

namespace hone::methods {

double SoftOverlong(double length, double longest, double cache) {
  if (length <= longest - cache || cache <= 0) return 0;
  return std::max((longest - cache - length) / cache, -1.0);
}

namespace {

// The penalty is off until a length is set: it belongs to the rollout's limit, which only the
// recipe knows.
Values WithSoftOverlong(MethodOptions* options, const Values& base, double cache_share,
                        bool policy_tokens) {
  const double longest = options->Number("longest", 0, 0);
  const double cache = options->Number("cache", longest * cache_share, 0);
  if (longest == 0) return base;
  return [=](const Group& group) {
    UnitValues values = base(group);
    for (size_t i = 0; i < values.size(); ++i) {
      const Trajectory& trajectory = group.trajectories[i];
      const double length = policy_tokens ? trajectory.tokens : trajectory.length;
      if (values[i][0]) *values[i][0] += SoftOverlong(length, longest, cache);
    }
    return values;
  };
}

}  // namespace

Method Dapo(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(AloneOf(options, Alone::kRaw)));
  method.about = "GRPO; groups without signal dropped, soft penalty on length";
  method.channels[0].values =
      WithSoftOverlong(options, method.channels[0].values, 0.2, /*policy_tokens=*/false);
  method.filters.least_deviation = 0;
  method.filters.mask_truncated = options->Flag("mask_overlong", false);
  return method;
}

Method Tapo(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(AloneOf(options, Alone::kRaw)));
  method.about = "DAPO for tools: length counts the policy's own tokens only";
  method.channels[0].values =
      WithSoftOverlong(options, method.channels[0].values, 0.5, /*policy_tokens=*/true);
  method.filters.least_deviation = 0;
  return method;
}

Method StarPoS(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(Alone::kZero));
  method.about = "GRPO on the quarter of the batch's groups that spread most";
  method.filters.keep_share = options->Number("keep", 0.25, 0, 1);
  return method;
}

Method SimpleTir(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(Alone::kZero));
  method.about = "GRPO; trajectories with a void turn are masked after the statistics";
  method.needs = "an outcome per trajectory, void turns on the record";
  method.filters.least_deviation = options->Number("least_deviation", 1e-3, 0);
  method.filters.mask_void = true;
  return method;
}

}  // namespace hone::methods
