#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone {

// A text, and where it was read.
struct TextLine {
  std::string file;  // or "standard input"; empty: the command line
  int64_t line = 0;  // from 1
  std::string text;
};

// Whether a text is UTF-8; the error begins with where it stands.
Result<void> CheckTextLine(const std::string& place, std::string_view text);

// The lines of a file ("-": standard input) that are not blank. With a `key` every line is a JSON
// object, whose text stands under it. The error names the line.
Result<std::vector<TextLine>> ReadTextLines(const std::string& file, const std::string& key);

}  // namespace hone
