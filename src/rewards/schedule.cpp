#include "rewards/schedule.h"

#include <numbers>

#include "base/exact_math.h"

namespace hone {

double Schedule::At(int64_t step) const {
  if (step >= begin + steps) return to;
  if (step <= begin || shape == Shape::kStep) return from;
  const double way = static_cast<double>(step - begin) / static_cast<double>(steps);
  double sine = 0, cosine = 0;
  SineCosine(std::numbers::pi * way, &sine, &cosine);
  const double share = shape == Shape::kLinear ? way : (1 - cosine) / 2;
  return from + (to - from) * share;
}

}  // namespace hone
