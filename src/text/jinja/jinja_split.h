#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

// Taking text apart as Python does. Parts are ranges of bytes, so that what is known about bytes
// stays known.

namespace hone {

// str.split: at a separator, or (without one) at runs of white space. `most` cuts, all if negative.
std::vector<ByteRange> SplitText(std::string_view text, std::optional<std::string_view> separator,
                                 int64_t most);
// str.rsplit: the same, counted from the end.
std::vector<ByteRange> SplitTextFromEnd(std::string_view text,
                                        std::optional<std::string_view> separator, int64_t most);
// str.splitlines.
std::vector<ByteRange> SplitLines(std::string_view text, bool keep_ends);
// Where `part` occurs, at most `most` times from the left (all if negative), without overlaps. An
// empty part occurs before every character and at the end.
std::vector<ByteRange> FindAll(std::string_view text, std::string_view part, int64_t most);

}  // namespace hone
