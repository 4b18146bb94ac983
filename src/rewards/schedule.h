#pragma once

#include <cstdint>

namespace hone {

// A number that changes as training goes on: `from` until `begin`, `to` from `begin + steps` on,
// and between them along the shape.
struct Schedule {
  enum class Shape { kLinear, kCosine, kStep };  // kStep: `from` until the end, then `to`
  double from = 1;
  double to = 1;
  int64_t begin = 0;
  int64_t steps = 0;
  Shape shape = Shape::kLinear;

  double At(int64_t step) const;
};

}  // namespace hone
