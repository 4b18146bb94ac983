#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace hone {

// The ways to put a question. Those of the second list never occur in training.
struct Wording {
  std::vector<std::string_view> seen;
  std::vector<std::string_view> unseen = {};
};

// "text" with every {x} replaced by the word for "x", of pairs of a name and a word. All must be
// given (CHECK).
template <typename Words = std::initializer_list<std::pair<std::string_view, std::string_view>>>
std::string PutIn(std::string_view text, const Words& words) {
  std::string out;
  while (true) {
    const size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto found = std::find_if(words.begin(), words.end(),
                                    [&](const auto& word) { return word.first == name; });
    CHECK(found != words.end(), "a wording with a word that nobody gives");
    out += found->second;
    text.remove_prefix(close + 1);
  }
}

}  // namespace hone
