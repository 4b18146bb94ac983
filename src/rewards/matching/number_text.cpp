#include "rewards/matching/number_text.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/strings.h"
#include "rewards/matching/plain_text.h"

namespace hone {
namespace {

// How far a plain number (no sign) reaches from text[begin]: digits with thousands commas, a
// fraction, an exponent; 0 when none begins there.
size_t NumberLength(std::string_view text, size_t begin) {
  size_t at = begin;
  const auto digits = [&] {
    const size_t first = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at - first;
  };
  const size_t whole = digits();
  if (whole >= 1 && whole <= 3) {
    while (at + 3 < text.size() && text[at] == ',' && IsDigit(text[at + 1]) &&
           IsDigit(text[at + 2]) && IsDigit(text[at + 3]) &&
           (at + 4 >= text.size() || !IsDigit(text[at + 4]))) {
      at += 4;
    }
  }
  if (at + 1 < text.size() && text[at] == '.' && IsDigit(text[at + 1])) {
    ++at;
    digits();
  } else if (whole == 0) {
    return 0;
  }
  size_t exponent = at;
  if (exponent < text.size() && (text[exponent] == 'e' || text[exponent] == 'E')) {
    ++exponent;
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    if (exponent < text.size() && IsDigit(text[exponent])) {
      at = exponent;
      digits();
    }
  }
  return at - begin;
}

std::optional<double> ValueOfPlain(std::string_view plain) {
  const std::string digits = Replaced(plain, ",", "");
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

// The typographic minus is a minus.
std::string PlainMinus(std::string_view text) { return Replaced(text, "\u2212", "-"); }

std::optional<double> SignedNumber(std::string_view text) {
  text = Trim(text);
  bool negative = false;
  // "-$3" and "$-3" both occur.
  for (bool more = true; more && !text.empty();) {
    if (text[0] == '-' && !negative) {
      negative = true;
      text.remove_prefix(1);
    } else if (text[0] == '+' || text[0] == '$') {
      text.remove_prefix(1);
    } else {
      more = false;
    }
  }
  if (text.empty() || NumberLength(text, 0) != text.size()) return std::nullopt;
  const std::optional<double> value = ValueOfPlain(text);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

}  // namespace

std::optional<double> WholeNumber(std::string_view text) {
  const std::string plain = PlainMinus(text);
  std::string_view rest = Trim(plain);
  // A full stop ends a sentence; a percent sign is a unit.
  if (rest.ends_with('.')) rest = TrimRight(rest.substr(0, rest.size() - 1));
  if (rest.ends_with('%')) rest = TrimRight(rest.substr(0, rest.size() - 1), " \t\r\n\\");
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return SignedNumber(rest);
  const auto above = SignedNumber(rest.substr(0, slash));
  const auto below = SignedNumber(rest.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  const double quotient = *above / *below;
  if (!std::isfinite(quotient)) return std::nullopt;
  return quotient;
}

std::optional<double> LastNumber(std::string_view text) {
  const std::string plain = PlainMinus(text);
  std::optional<double> last;
  for (size_t at = 0; at < plain.size();) {
    const size_t length = NumberLength(plain, at);
    if (length == 0) {
      ++at;
      continue;
    }
    std::optional<double> value = ValueOfPlain(std::string_view(plain).substr(at, length));
    // A minus is a sign unless something stands before it: "5-3" ends in 3.
    size_t sign = at;
    if (sign > 0 && plain[sign - 1] == '$') --sign;
    if (sign > 0 && plain[sign - 1] == '-' &&
        (sign == 1 ||
         std::string_view(" \t\n(=[{:$").find(plain[sign - 2]) != std::string_view::npos)) {
      if (value) value = -*value;
    }
    if (value) last = value;
    at += length;
  }
  return last;
}

}  // namespace hone
