#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone {

// A decimal number of any size: 0.1 + 0.2 is 0.3. Sums, differences and products are exact;
// quotients and roots that do not end are rounded to kDigits significant digits, half to even.
class Decimal {
 public:
  static constexpr int kDigits = 50;
  // Numbers of more digits are refused, so that nobody can ask for 9^9^9.
  static constexpr int64_t kMostDigits = 2000;

  Decimal() = default;
  Decimal(int64_t value);  // NOLINT: implicit, as a number should be
  // "12", "-0.5", ".5", "1e-3".
  static Result<Decimal> Parse(std::string_view text);

  bool is_zero() const { return limbs_.empty(); }
  bool is_negative() const { return negative_; }
  bool is_whole() const;
  // Plain digits, no exponent, no zeros that say nothing: "0.5", "1200".
  std::string Text() const;
  // When it is whole and fits.
  Result<int64_t> AsInteger() const;

  Decimal Negated() const;
  Decimal Magnitude() const;
  // The whole number below or equal.
  Decimal Floor() const;
  // To so many places behind the point, half to even, as Python rounds.
  Decimal Rounded(int64_t places) const;

  friend Result<Decimal> Add(const Decimal& a, const Decimal& b);
  friend Result<Decimal> Multiply(const Decimal& a, const Decimal& b);
  // Division by zero is an error.
  friend Result<Decimal> Divide(const Decimal& a, const Decimal& b);
  // The whole number below or equal to the quotient, exactly.
  friend Result<Decimal> FloorDivide(const Decimal& a, const Decimal& b);
  friend Result<Decimal> SquareRoot(const Decimal& a);
  // -1, 0, 1.
  friend int Compare(const Decimal& a, const Decimal& b);

 private:
  using Limbs = std::vector<uint32_t>;  // base 10^9, the lowest first, none above the highest

  Decimal(Limbs limbs, int64_t scale, bool negative);
  void Trim();

  // The value is limbs_ * 10^-scale_; scale_ >= 0.
  Limbs limbs_;
  int64_t scale_ = 0;
  bool negative_ = false;
};

Result<Decimal> Add(const Decimal& a, const Decimal& b);
Result<Decimal> Subtract(const Decimal& a, const Decimal& b);
Result<Decimal> Multiply(const Decimal& a, const Decimal& b);
Result<Decimal> Divide(const Decimal& a, const Decimal& b);
Result<Decimal> FloorDivide(const Decimal& a, const Decimal& b);
Result<Decimal> SquareRoot(const Decimal& a);
int Compare(const Decimal& a, const Decimal& b);
// The exponent is whole; a negative one divides.
Result<Decimal> Power(const Decimal& base, int64_t exponent);

}  // namespace hone
