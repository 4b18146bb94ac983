#include "learn/running/entropy_controller.h"

#include <algorithm>
#include <cmath>

#include "base/json_fields.h"

namespace hone {

double EntropyController::coefficient() const {
  if (target_.nats <= 0) return initial_;
  return last_ && *last_ <= target_.nats ? coefficient_ : 0;
}

void EntropyController::Observe(double entropy) {
  if (target_.nats <= 0 || !std::isfinite(entropy)) return;
  coefficient_ = entropy <= target_.nats ? std::min(coefficient_ + target_.step, target_.most)
                                         : std::max(coefficient_ - target_.step, 0.0);
  last_ = entropy;
}

Json EntropyController::ToJson() const {
  return Json::Of({{"coefficient", coefficient_}, {"last", last_ ? Json(*last_) : Json()}});
}

Result<void> EntropyController::Restore(const Json& state) {
  JsonErrors errors;
  double coefficient = 0;
  std::optional<double> last;
  {
    JsonFields fields(state, "entropy", &errors);
    fields.Required("coefficient", &coefficient);
    fields.Required("last", &last);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (!std::isfinite(coefficient) || coefficient < 0) {
    return Error(ErrorCode::kCorrupt, "entropy.coefficient: must be a number from 0 on");
  }
  coefficient_ = coefficient;
  last_ = last;
  return {};
}

}  // namespace hone
