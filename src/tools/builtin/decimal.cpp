#include "tools/builtin/decimal.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace hone {
namespace {

using Limbs = std::vector<uint32_t>;
constexpr uint64_t kBase = 1'000'000'000;
constexpr int kBaseDigits = 9;

Error TooLong() {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("a number of more than {} digits", Decimal::kMostDigits));
}

void DropZeros(Limbs* limbs) {
  while (!limbs->empty() && limbs->back() == 0) limbs->pop_back();
}

int CompareLimbs(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

Limbs AddLimbs(const Limbs& a, const Limbs& b) {
  Limbs sum;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry > 0; ++i) {
    carry += (i < a.size() ? a[i] : 0u) + static_cast<uint64_t>(i < b.size() ? b[i] : 0u);
    sum.push_back(static_cast<uint32_t>(carry % kBase));
    carry /= kBase;
  }
  return sum;
}

// a - b, where a is not smaller.
Limbs SubtractLimbs(const Limbs& a, const Limbs& b) {
  Limbs difference = a;
  int64_t borrow = 0;
  for (size_t i = 0; i < difference.size(); ++i) {
    int64_t limb = static_cast<int64_t>(a[i]) - (i < b.size() ? b[i] : 0) - borrow;
    borrow = limb < 0 ? 1 : 0;
    difference[i] = static_cast<uint32_t>(limb + borrow * static_cast<int64_t>(kBase));
  }
  DropZeros(&difference);
  return difference;
}

Limbs MultiplyLimbs(const Limbs& a, const Limbs& b) {
  Limbs product(a.size() + b.size(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.size() || carry > 0; ++j) {
      carry += product[i + j] + static_cast<uint64_t>(a[i]) * (j < b.size() ? b[j] : 0);
      product[i + j] = static_cast<uint32_t>(carry % kBase);
      carry /= kBase;
    }
  }
  DropZeros(&product);
  return product;
}

Limbs TimesPowerOfTen(const Limbs& a, int64_t power) {
  if (a.empty()) return a;
  Limbs shifted(static_cast<size_t>(power / kBaseDigits), 0);
  shifted.insert(shifted.end(), a.begin(), a.end());
  uint32_t factor = 1;
  for (int64_t i = 0; i < power % kBaseDigits; ++i) factor *= 10;
  return MultiplyLimbs(shifted, {factor});
}

// Quotient and remainder, limb by limb from the top; each digit by halving the interval.
std::pair<Limbs, Limbs> DivideLimbs(const Limbs& a, const Limbs& b) {
  Limbs quotient(a.size(), 0), rest;
  for (size_t i = a.size(); i-- > 0;) {
    rest.insert(rest.begin(), a[i]);
    DropZeros(&rest);
    uint32_t low = 0, high = kBase - 1;
    while (low < high) {  // the largest digit whose product fits
      const uint32_t middle = low + (high - low + 1) / 2;
      if (CompareLimbs(MultiplyLimbs(b, {middle}), rest) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    quotient[i] = low;
    if (low > 0) rest = SubtractLimbs(rest, MultiplyLimbs(b, {low}));
  }
  DropZeros(&quotient);
  return {quotient, rest};
}

int64_t DigitsOf(const Limbs& limbs) {
  if (limbs.empty()) return 1;
  int64_t digits = static_cast<int64_t>(limbs.size() - 1) * kBaseDigits;
  for (uint32_t top = limbs.back(); top > 0; top /= 10) ++digits;
  return digits;
}

// limbs / 10^places, rounded half to even; `more` says that something not zero was cut off before.
Limbs RoundedOff(const Limbs& limbs, int64_t places, bool more = false) {
  if (places <= 0) return limbs;
  const Limbs unit = TimesPowerOfTen({1}, places);
  auto [quotient, rest] = DivideLimbs(limbs, unit);
  const int half = CompareLimbs(MultiplyLimbs(rest, {2}), unit);
  const bool odd = !quotient.empty() && quotient[0] % 2 == 1;
  if (half > 0 || (half == 0 && (more || odd))) quotient = AddLimbs(quotient, {1});
  return quotient;
}

}  // namespace

Decimal::Decimal(int64_t value) : negative_(value < 0) {
  uint64_t left = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  for (; left > 0; left /= kBase) limbs_.push_back(static_cast<uint32_t>(left % kBase));
}

Decimal::Decimal(Limbs limbs, int64_t scale, bool negative)
    : limbs_(std::move(limbs)), scale_(scale), negative_(negative) {
  Trim();
}

// No zeros behind the point that say nothing, and no negative zero.
void Decimal::Trim() {
  DropZeros(&limbs_);
  while (scale_ > 0 && !limbs_.empty() && limbs_[0] % 10 == 0) {
    const int64_t step = scale_ >= kBaseDigits && limbs_[0] == 0 ? kBaseDigits : 1;
    if (step == kBaseDigits) {
      limbs_.erase(limbs_.begin());
    } else {
      limbs_ = DivideLimbs(limbs_, {10}).first;
    }
    scale_ -= step;
  }
  if (limbs_.empty()) {
    scale_ = 0;
    negative_ = false;
  }
}

Result<Decimal> Decimal::Parse(std::string_view text) {
  const std::string whole(text);
  auto wrong = [&] {
    return Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\" is not a number", whole));
  };
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int64_t exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto [end, failed] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (failed != std::errc() || end != power.data() + power.size()) return wrong();
    text = text.substr(0, e);
  }
  std::string digits;
  int64_t scale = 0;
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits += c;
      scale += point ? 1 : 0;
    } else {
      return wrong();
    }
  }
  if (digits.empty()) return wrong();
  if (exponent > kMostDigits || exponent < -kMostDigits ||
      static_cast<int64_t>(digits.size()) > kMostDigits) {
    return TooLong();
  }
  scale -= exponent;
  if (scale < 0) {
    digits.append(static_cast<size_t>(-scale), '0');
    scale = 0;
  }
  Limbs limbs;
  for (size_t end = digits.size(); end > 0;) {
    const size_t begin = end < kBaseDigits ? 0 : end - kBaseDigits;
    uint32_t limb = 0;
    std::from_chars(digits.data() + begin, digits.data() + end, limb);
    limbs.push_back(limb);
    end = begin;
  }
  return Decimal(std::move(limbs), scale, negative);
}

bool Decimal::is_whole() const { return scale_ == 0; }

std::string Decimal::Text() const {
  if (is_zero()) return "0";
  std::string digits = std::to_string(limbs_.back());
  for (size_t i = limbs_.size() - 1; i-- > 0;) digits += fmt::format("{:09}", limbs_[i]);
  const auto scale = static_cast<size_t>(scale_);
  if (scale > 0) {
    if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    digits.insert(digits.size() - scale, ".");
  }
  return (negative_ ? "-" : "") + digits;
}

Result<int64_t> Decimal::AsInteger() const {
  const std::string text = Text();
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!is_whole() || failed != std::errc() || end != text.data() + text.size()) {
    return Error(ErrorCode::kInvalidArgument, text + " is not a whole number of 64 bits");
  }
  return value;
}

Decimal Decimal::Negated() const { return Decimal(limbs_, scale_, !negative_); }
Decimal Decimal::Magnitude() const { return Decimal(limbs_, scale_, false); }

Decimal Decimal::Floor() const {
  if (is_whole()) return *this;
  auto [quotient, rest] = DivideLimbs(limbs_, TimesPowerOfTen({1}, scale_));
  if (negative_ && !rest.empty()) quotient = AddLimbs(quotient, {1});
  return Decimal(std::move(quotient), 0, negative_);
}

Decimal Decimal::Rounded(int64_t places) const {
  places = std::clamp<int64_t>(places, -kMostDigits, kMostDigits);
  if (scale_ <= places) return *this;
  const Limbs rounded = RoundedOff(limbs_, scale_ - places);
  if (places >= 0) return Decimal(rounded, places, negative_);
  return Decimal(TimesPowerOfTen(rounded, -places), 0, negative_);
}

Result<Decimal> Add(const Decimal& a, const Decimal& b) {
  const int64_t scale = std::max(a.scale_, b.scale_);
  const Limbs x = TimesPowerOfTen(a.limbs_, scale - a.scale_),
              y = TimesPowerOfTen(b.limbs_, scale - b.scale_);
  Limbs sum;
  bool negative = a.negative_;
  if (a.negative_ == b.negative_) {
    sum = AddLimbs(x, y);
  } else if (CompareLimbs(x, y) >= 0) {
    sum = SubtractLimbs(x, y);
  } else {
    sum = SubtractLimbs(y, x);
    negative = b.negative_;
  }
  if (DigitsOf(sum) > Decimal::kMostDigits) return TooLong();
  return Decimal(std::move(sum), scale, negative);
}

Result<Decimal> Subtract(const Decimal& a, const Decimal& b) { return Add(a, b.Negated()); }

Result<Decimal> Multiply(const Decimal& a, const Decimal& b) {
  if (DigitsOf(a.limbs_) + DigitsOf(b.limbs_) > Decimal::kMostDigits) return TooLong();
  return Decimal(MultiplyLimbs(a.limbs_, b.limbs_), a.scale_ + b.scale_,
                 a.negative_ != b.negative_);
}

Result<Decimal> Divide(const Decimal& a, const Decimal& b) {
  if (b.is_zero()) return Error(ErrorCode::kInvalidArgument, "division by zero");
  if (a.is_zero()) return a;
  // Enough digits in front that the quotient has kDigits and some; then it is rounded once.
  const int64_t missing = Decimal::kDigits + 3 + DigitsOf(b.limbs_) - DigitsOf(a.limbs_);
  const int64_t raise = std::max<int64_t>(missing, 0) + std::max<int64_t>(b.scale_ - a.scale_, 0);
  auto [quotient, rest] = DivideLimbs(TimesPowerOfTen(a.limbs_, raise), b.limbs_);
  int64_t scale = a.scale_ + raise - b.scale_;
  const int64_t cut = std::min(DigitsOf(quotient) - Decimal::kDigits, scale);
  const Decimal exact(quotient, scale, a.negative_ != b.negative_);
  // A quotient that ends is given whole.
  if (rest.empty() && DigitsOf(exact.limbs_) <= Decimal::kMostDigits) return exact;
  if (cut > 0) {
    quotient = RoundedOff(quotient, cut, !rest.empty());
    scale -= cut;
  }
  return Decimal(std::move(quotient), scale, a.negative_ != b.negative_);
}

Result<Decimal> FloorDivide(const Decimal& a, const Decimal& b) {
  if (b.is_zero()) return Error(ErrorCode::kInvalidArgument, "division by zero");
  const int64_t scale = std::max(a.scale_, b.scale_);
  auto [quotient, rest] = DivideLimbs(TimesPowerOfTen(a.limbs_, scale - a.scale_),
                                      TimesPowerOfTen(b.limbs_, scale - b.scale_));
  const bool negative = a.negative_ != b.negative_;
  if (negative && !rest.empty()) quotient = AddLimbs(quotient, {1});
  return Decimal(std::move(quotient), 0, negative);
}

Result<Decimal> SquareRoot(const Decimal& a) {
  if (a.is_negative()) {
    return Error(ErrorCode::kInvalidArgument, "the square root of a negative number");
  }
  if (a.is_zero()) return a;
  // The whole root of a times an even power of ten, by Newton's steps from above.
  int64_t raise = std::max<int64_t>(0, 2 * (Decimal::kDigits + 3) - DigitsOf(a.limbs_));
  if ((a.scale_ + raise) % 2 != 0) ++raise;
  const Limbs target = TimesPowerOfTen(a.limbs_, raise);
  Limbs root = TimesPowerOfTen({1}, (DigitsOf(target) + 2) / 2);
  while (true) {
    Limbs next = DivideLimbs(AddLimbs(root, DivideLimbs(target, root).first), {2}).first;
    if (CompareLimbs(next, root) >= 0) break;
    root = std::move(next);
  }
  const bool exact = CompareLimbs(MultiplyLimbs(root, root), target) == 0;
  int64_t scale = (a.scale_ + raise) / 2;
  const int64_t cut = std::min(DigitsOf(root) - Decimal::kDigits, scale);
  if (!exact && cut > 0) {
    root = RoundedOff(root, cut, true);
    scale -= cut;
  }
  return Decimal(std::move(root), scale, false);
}

int Compare(const Decimal& a, const Decimal& b) {
  if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
  const int64_t scale = std::max(a.scale_, b.scale_);
  const int order = CompareLimbs(TimesPowerOfTen(a.limbs_, scale - a.scale_),
                                 TimesPowerOfTen(b.limbs_, scale - b.scale_));
  return a.negative_ ? -order : order;
}

Result<Decimal> Power(const Decimal& base, int64_t exponent) {
  if (exponent < 0) {
    if (exponent < -Decimal::kMostDigits) return TooLong();
    HONE_ASSIGN_OR_RETURN(const Decimal whole, Power(base, -exponent));
    return Divide(Decimal(1), whole);
  }
  Decimal result(1), square = base;
  for (int64_t left = exponent; left > 0; left /= 2) {
    if (left % 2 == 1) {
      HONE_ASSIGN_OR_RETURN(result, Multiply(result, square));
    }
    if (left > 1) {
      HONE_ASSIGN_OR_RETURN(square, Multiply(square, square));
    }
  }
  return result;
}

}  // namespace hone
