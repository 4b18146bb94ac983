#pragma once

#include <span>
#include <string>

namespace hone {

// What was found, as an agent reads it where every token counts.
struct Passage {
  std::string title;
  std::string text;
};

// One line per passage, "Title: text"; the text alone where there is no title. Line breaks inside
// become blanks, so that a line is a passage.
std::string PassageLines(std::span<const Passage> passages);

}  // namespace hone
