#include "base/exact_math.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace hone {

double NaturalLog(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [0.5, 1), exact
  if (mantissa < std::numbers::sqrt2 / 2) {
    mantissa *= 2;
    --exponent;
  }
  // 2 atanh(t) for |t| < 0.172: 13 terms leave less than 1e-17.
  const double t = (mantissa - 1) / (mantissa + 1), t2 = t * t;
  double series = 0;
  for (int k = 25; k >= 1; k -= 2) series = series * t2 + 1.0 / k;
  return 2 * t * series + exponent * std::numbers::ln2;
}

double Exponential(double x) {
  if (x < -745.2) return 0;
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76730p-45;
  const double n = std::nearbyint(x * std::numbers::log2e);
  const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| < 0.35
  double series = 1;
  for (int k = 16; k >= 1; --k) series = 1 + series * r / k;
  return std::ldexp(series, static_cast<int>(n));
}

void SineCosine(double x, double* sine, double* cosine) {
  // x - n pi/2 with pi/2 in three parts of 33 bits, so that the products with n are exact.
  constexpr double kHalfPi1 = 0x1.921fb54400000p+0, kHalfPi2 = 0x1.0b4611a600000p-34,
                   kHalfPi3 = 0x1.3198a2e037073p-69;
  const double n = std::nearbyint(x * (2 / std::numbers::pi));
  const double r = ((x - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;  // |r| < 0.79
  const double r2 = r * r;
  double s = 1, c = 1;
  for (int k = 10; k >= 1; --k) {
    s = 1 - s * r2 / (2 * k * (2 * k + 1));
    c = 1 - c * r2 / (2 * k * (2 * k - 1));
  }
  s *= r;
  switch (static_cast<long long>(n) & 3) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
  }
}

}  // namespace hone
