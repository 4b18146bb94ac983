#pragma once

#include <cstdint>
#include <string>

namespace hone {

// A text that was too long: its first two thirds and its last third (where programs print what
// went wrong), whole characters, with a line between them that says how much is missing.
struct CutText {
  std::string text;
  int64_t cut_bytes = 0;  // 0: nothing was cut
};

// At most `max_bytes` of `content`, the line between not counted. Bytes that are not UTF-8 become
// U+FFFD.
CutText Cut(std::string content, int64_t max_bytes);

// The first and the last half of a text of more than `max_characters` characters, with a line
// between that says how much is missing. The text must be UTF-8.
std::string CutToCharacters(std::string text, int64_t max_characters);

}  // namespace hone
