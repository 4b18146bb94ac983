#pragma once

#include <algorithm>
#include <string_view>

namespace hone {

inline constexpr std::string_view kBlanks = " \t\r\n";

// The text without the given characters at its beginning, at its end, or at both.
inline std::string_view TrimLeft(std::string_view text, std::string_view characters = kBlanks) {
  const size_t begin = text.find_first_not_of(characters);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}
inline std::string_view TrimRight(std::string_view text, std::string_view characters = kBlanks) {
  return text.substr(0, text.find_last_not_of(characters) + 1);
}
inline std::string_view Trim(std::string_view text, std::string_view characters = kBlanks) {
  return TrimRight(TrimLeft(text, characters), characters);
}

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

inline bool IsOneOf(std::string_view text, const auto& texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// Whether `name` fits a pattern in which '*' stands for any characters.
inline bool FitsPattern(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t at = star; at <= name.size(); ++at) {
    if (FitsPattern(rest, name.substr(at))) return true;
  }
  return false;
}

// How many characters at the end of `text` could be the beginning of `word`: the length of the
// longest proper prefix of `word` that the text ends with.
inline size_t PartialSuffix(std::string_view text, std::string_view word) {
  if (word.empty()) return 0;
  for (size_t size = word.size() < text.size() + 1 ? word.size() - 1 : text.size(); size > 0;
       --size) {
    if (text.ends_with(word.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace hone
