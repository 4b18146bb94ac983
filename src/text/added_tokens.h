#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/sampling.h"

namespace hone {

// A token that is recognised as a whole before the text is cut into pieces: "<|im_end|>".
struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;      // control token: cannot be forged from inside user or tool text
  bool single_word = false;  // only where no word character touches it
  bool lstrip = false;       // takes the white space before it with it
  bool rstrip = false;       // and after it
  bool normalized = false;   // looked for after normalisation instead of before
};

// Finds added tokens in text: leftmost first, longest of those that begin there.
class AddedTokenMatcher {
 public:
  // `spellings`: what the tokens are found by, where it is not their content; as many, or none.
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens,
                             std::vector<std::string> spellings = {});

  struct Match {
    size_t begin, end;  // white space taken along included
    const AddedToken* token;
  };
  // `allowed` can refuse a match, e.g. inside text that must stay literal.
  using Allowed = std::function<bool(const AddedToken&, size_t begin, size_t end)>;
  // The first match at or after `from`.
  std::optional<Match> Find(std::string_view text, size_t from, const Allowed& allowed) const;

  bool empty() const { return tokens_.empty(); }

 private:
  struct Candidate {
    const AddedToken* token = nullptr;
    size_t end = 0;
  };
  Candidate LongestAt(std::string_view text, size_t at, const Allowed& allowed) const;

  std::vector<AddedToken> tokens_;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int, Hash, std::equal_to<>> by_spelling_;  // indices
  // By first byte, how long the spellings are that begin with it, longest first. A vocabulary can
  // have thousands of added tokens that begin with '<'.
  std::array<std::vector<size_t>, 256> lengths_;
};

}  // namespace hone
