#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// The candidate that differs from `word` by the fewest edits (insert, delete, replace, swap of
// neighbours), if it is near enough to be what was meant: at most a third of its length, at
// least 1.
std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

// " (did you mean \"x\"?)" for the end of a message, or "".
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hone
