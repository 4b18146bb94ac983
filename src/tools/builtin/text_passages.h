#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// A part of a text that is short enough to be read at once.
struct TextPassage {
  std::string heading;  // the one it stands under; empty: none
  std::string text;     // on one line: runs of blanks and line ends are single blanks

  bool operator==(const TextPassage&) const = default;
};

// The text with single blanks for runs of blanks and line ends, and none around it.
std::string OnOneLine(std::string_view text);

// What of a text is a heading.
enum class Headings {
  kNone,
  kMarkdown,  // lines that begin with # to ######, but not in fenced code
};

// Cuts a text into passages of at most `words` words (runs without blanks; a long run counts for
// each 30 bytes begun). A heading begins a passage; else paragraphs, which blank lines divide, are
// put together as long as they fit. A paragraph that is too long is cut behind its sentences, a
// sentence that is too long behind its words. Every word of the text is in one passage, in order;
// the lines of headings are in none.
std::vector<TextPassage> PassagesOf(std::string_view text, Headings headings, int64_t words);

}  // namespace hone
