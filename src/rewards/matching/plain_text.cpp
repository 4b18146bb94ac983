#include "rewards/matching/plain_text.h"

#include <algorithm>
#include <cstdlib>

#include <utf8proc.h>

#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

constexpr size_t kLongestCompared = 2000;
constexpr std::string_view kTrimmed = " .,;:!?\"'`";  // around a normalised text

std::u32string CodePoints(std::string_view text) {
  const std::string clean = Utf8Lossy(text);
  std::u32string out;
  for (size_t at = 0; at < clean.size();) out.push_back(NextCodePoint(clean, &at));
  return out;
}

bool IsBlank(char32_t c) {
  if (c == 0x85 || c == 0x2028 || c == 0x2029) return true;
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ZS;
}

// Letters, numbers and the underscore: what a word boundary is about.
bool IsWordCharacter(char32_t c) {
  if (c == '_') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return true;
    default: return false;
  }
}

bool IsAsciiPunctuation(char32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
         (c >= 123 && c <= 126);
}

std::string Joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string Encoded(const std::u32string& text) {
  std::string out;
  for (const char32_t c : text) AppendUtf8(c, &out);
  return out;
}

// Every whole word that is an article becomes a blank.
std::u32string WithoutArticles(const std::u32string& text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsWordCharacter(text[end])) ++end;
    if (end == at) {
      out.push_back(text[at++]);
      continue;
    }
    const std::u32string word = text.substr(at, end - at);
    if (word == U"a" || word == U"an" || word == U"the") {
      out.push_back(' ');
    } else {
      out += word;
    }
    at = end;
  }
  return out;
}

// NormalisedText of printable ASCII, which is most of what is compared: there, folding is lower
// case and the only blank is a space.
std::string NormalisedAscii(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (c != ' ') {
      words.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    } else if (!words.empty() && words.back() != ' ') {
      words.push_back(' ');
    }
  }
  return std::string(Trim(words, kTrimmed));
}

}  // namespace

std::string LowerCased(std::string_view text) {
  std::u32string out = CodePoints(text);
  for (char32_t& c : out) {
    c = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  }
  return Encoded(out);
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char32_t c : CodePoints(text)) {
    if (IsBlank(c)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    AppendUtf8(c, &words.back());
  }
  return words;
}

std::string NormalisedText(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
    return NormalisedAscii(text);
  }
  const std::string clean = Utf8Lossy(text);
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(clean.data()),
      static_cast<utf8proc_ssize_t>(clean.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                                     UTF8PROC_CASEFOLD | UTF8PROC_IGNORE));
  const std::string folded =
      size < 0 ? clean
               : std::string(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
  std::free(mapped);  // what utf8proc_map gives is the caller's
  return std::string(Trim(Joined(Words(folded)), kTrimmed));
}

std::string QaNormalised(std::string_view text) {
  std::u32string kept;
  for (const char32_t c : CodePoints(LowerCased(text))) {
    if (!IsAsciiPunctuation(c)) kept.push_back(c);
  }
  return Joined(Words(Encoded(WithoutArticles(kept))));
}

bool HoldsWholeWords(std::string_view text, std::string_view phrase) {
  const std::u32string all = CodePoints(text), wanted = CodePoints(phrase);
  const auto is_edge = [&](size_t at) {
    const bool before = at > 0 && IsWordCharacter(all[at - 1]);
    return before != (at < all.size() && IsWordCharacter(all[at]));
  };
  for (size_t at = all.find(wanted); at != std::u32string::npos; at = all.find(wanted, at + 1)) {
    if (is_edge(at) && is_edge(at + wanted.size())) return true;
  }
  return false;
}

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string_view::npos;) {
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  return out.append(text.substr(at));
}

std::string_view LastBoxed(std::string_view text) {
  constexpr std::string_view kOpening = "\\boxed{";
  const size_t found = text.rfind(kOpening);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = text.substr(found + kOpening.size());
  int depth = 1;
  for (size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '{') ++depth;
    if (rest[i] == '}' && --depth == 0) return rest.substr(0, i);
  }
  return {};
}

std::string_view InsideFence(std::string_view text) {
  constexpr std::string_view kFence = "```";
  const size_t close = text.rfind(kFence);
  if (close == std::string_view::npos || close == 0) return text;
  const size_t open = text.rfind(kFence, close - 1);
  if (open == std::string_view::npos || open + kFence.size() > close) return text;
  std::string_view inside = text.substr(open + kFence.size(), close - open - kFence.size());
  const size_t line = inside.find('\n');
  const std::string_view first = inside.substr(0, line);
  // A language's name stands alone on the line of the fence.
  if (line != std::string_view::npos && first.find_first_of(" \t({[") == std::string_view::npos) {
    inside.remove_prefix(line + 1);
  }
  return inside;
}

double TextSimilarity(std::string_view a, std::string_view b) {
  if (a == b && a.size() <= kLongestCompared) return 1;
  std::u32string left = CodePoints(a), right = CodePoints(b);
  const size_t longer = std::max(left.size(), right.size());
  if (longer == 0) return 1;
  left.resize(std::min(left.size(), kLongestCompared));
  right.resize(std::min(right.size(), kLongestCompared));
  std::vector<size_t> row(right.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  // What was not compared counts as different.
  const size_t uncompared = longer - std::max(left.size(), right.size());
  return 1.0 - static_cast<double>(row.back() + uncompared) / static_cast<double>(longer);
}

}  // namespace hone
