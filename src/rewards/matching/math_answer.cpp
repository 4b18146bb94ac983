#include "rewards/matching/math_answer.h"

#include <charconv>

#include "rewards/matching/plain_text.h"

namespace hone {
namespace {

constexpr std::string_view kFraction = "\\frac";
constexpr std::string_view kRoot = "\\sqrt";

// Whole characters, so that a letter outside ASCII is not cut in two.
size_t CharacterLength(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) {
    ++length;
  }
  return length;
}

// What stands behind "\text{ " is a unit, and there may be one only.
std::optional<std::string> WithoutUnit(std::string text) {
  constexpr std::string_view kUnit = "\\text{ ";
  const size_t found = text.find(kUnit);
  if (found == std::string::npos) return text;
  if (text.find(kUnit, found + kUnit.size()) != std::string::npos) return std::nullopt;
  return text.substr(0, found);
}

// "x=5" is 5, when the left side has at most two characters and there is one sign only.
std::string WithoutLeftSide(const std::string& text) {
  const size_t sign = text.find('=');
  if (sign == std::string::npos || text.find('=', sign + 1) != std::string::npos) return text;
  size_t characters = 0;
  for (size_t at = 0; at < sign; ++characters) {
    at += CharacterLength(std::string_view(text).substr(at));
  }
  return characters <= 2 ? text.substr(sign + 1) : text;
}

// \sqrt3 becomes \sqrt{3}.
std::optional<std::string> WithBracedRoots(std::string_view text) {
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(kRoot, at)) != std::string_view::npos;) {
    out.append(text.substr(at, found + kRoot.size() - at));
    at = found + kRoot.size();
    if (at == text.size() || text.substr(at).starts_with(kRoot)) return std::nullopt;
    if (text[at] == '{') continue;
    const size_t length = CharacterLength(text.substr(at));
    out.append("{").append(text.substr(at, length)).append("}");
    at += length;
  }
  return out.append(text.substr(at));
}

// \frac12 becomes \frac{1}{2}, \frac1{72} becomes \frac{1}{72}. A fraction with a single character
// behind it leaves the whole text as it is; one with nothing cannot be read.
std::optional<std::string> WithBracedFractions(std::string_view text) {
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(kFraction, at)) != std::string_view::npos;) {
    out.append(text.substr(at, found + kFraction.size() - at));
    at = found + kFraction.size();
    const std::string_view rest = text.substr(at, text.find(kFraction, at) - at);
    if (rest.empty()) return std::nullopt;
    if (rest[0] == '{') continue;
    const size_t above = CharacterLength(rest);
    if (above == rest.size()) return std::string(text);
    out.append("{").append(rest.substr(0, above)).append("}");
    at += above;
    if (rest[above] == '{') continue;
    const size_t below = CharacterLength(rest.substr(above));
    out.append("{").append(rest.substr(above, below)).append("}");
    at += below;
  }
  return out.append(text.substr(at));
}

bool IsPlainInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(value) == text;
}

// 3/4 of two whole numbers becomes \frac{3}{4}.
std::string WithFractionForSlash(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos || text.find('/', slash + 1) != std::string::npos) return text;
  const std::string above = text.substr(0, slash), below = text.substr(slash + 1);
  if (!IsPlainInteger(above) || !IsPlainInteger(below)) return text;
  return "\\frac{" + above + "}{" + below + "}";
}

}  // namespace

std::optional<std::string> MathNormalised(std::string_view given) {
  std::string text = Replaced(given, "\n", "");
  // In this order: what one step leaves behind the next one sees.
  constexpr std::string_view kReplacements[][2] = {
      {"\\!", ""},     {"\\\\", "\\"},    {"tfrac", "frac"}, {"dfrac", "frac"}, {"\\left", ""},
      {"\\right", ""}, {"^{\\circ}", ""}, {"^\\circ", ""},   {"\\$", ""}};
  for (const auto& [from, to] : kReplacements) text = Replaced(text, from, to);
  std::optional<std::string> bare = WithoutUnit(std::move(text));
  if (!bare) return std::nullopt;
  text = Replaced(*bare, "\\%", "");
  text = Replaced(text, " .", " 0.");
  text = Replaced(text, "{.", "{0.");
  if (text.empty()) return text;
  if (text[0] == '.') text.insert(0, "0");
  text = WithoutLeftSide(text);
  const std::optional<std::string> roots = WithBracedRoots(text);
  if (!roots) return std::nullopt;
  const std::optional<std::string> fractions = WithBracedFractions(Replaced(*roots, " ", ""));
  if (!fractions) return std::nullopt;
  text = *fractions == "0.5" ? "\\frac{1}{2}" : *fractions;
  return WithFractionForSlash(text);
}

bool MathEquivalent(std::string_view a, std::string_view b) {
  const std::optional<std::string> left = MathNormalised(a), right = MathNormalised(b);
  return left && right ? *left == *right : a == b;
}

}  // namespace hone
