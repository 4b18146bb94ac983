#include "record/economy.h"

#include <numbers>

#include "base/exact_math.h"

namespace hone {

double OtcPpoFactor(double calls, double smoothing) {
  if (calls == 0) return 1;
  return Cosine(calls * std::numbers::pi / (2 * calls + smoothing));
}

double OtcGrpoFactor(double calls, double fewest, double smoothing) {
  if (fewest == 0) return OtcPpoFactor(calls, smoothing);
  return Sine(2 * fewest * calls / (calls + fewest) * std::numbers::pi / (2 * fewest));
}

double FoldPreference(double direct, double folded) {
  const double both = direct + folded;
  return both > 0 ? (direct - folded) / both : 0;
}

}  // namespace hone
