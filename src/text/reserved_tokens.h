#pragma once

#include <set>
#include <string>
#include <string_view>

#include "record/tree.h"

namespace hone {

struct TurnMarks;

// The added tokens that only a dialect may write. Where somebody else writes one of them, in a
// message or a tool's result, it is plain characters, whether or not the tokenizer calls it
// special: Qwen3's "<tool_response>" and DeepSeek's "<｜User｜>" are not. Marks of control, <|...|>
// and <｜...｜>, are always reserved, also those that the dialect does not write. A plain value.
class ReservedTokens {
 public:
  // Reserves exactly this token.
  void Reserve(std::string_view token) { listed_.emplace(token); }
  // Reserves every token that occurs in this text, which the dialect writes or is written in, apart
  // from words and blanks: those are vocabulary (the runs of spaces of GPT-NeoX, letters such as
  // DeepSeek's), and everybody may use them.
  void ReserveAllIn(std::string_view text);
  // Reserves what lays a turn out, but not in the policy's own turns: a call that stands in the
  // text of a message by the assistant is read as one, so it is spelled as one.
  void ReserveForPolicy(const TurnMarks& marks);

  // Whether the token is plain characters in what `author` says.
  bool Has(std::string_view token, Author author) const;

 private:
  std::set<std::string, std::less<>> listed_;
  std::set<std::string, std::less<>> of_policy_;
  std::string written_;
};

}  // namespace hone
