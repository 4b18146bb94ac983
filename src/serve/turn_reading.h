#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/dialect.h"

// What a chat turn tells its client.

namespace hone {

// Text is UTF-8.
struct TurnDelta {
  std::string content;
  std::string reasoning;
  std::vector<ParsedCall> calls;

  bool empty() const { return content.empty() && reasoning.empty() && calls.empty(); }
};

struct TurnReadingOptions {
  bool thinking = false;  // the prompt opened the thought that the turn begins with
  bool may_call = true;   // false: a call is text like any other
};

// The text before the first of `stops`; all of it when none is there.
std::string_view BeforeStop(std::string_view text, const std::vector<std::string>& stops);

// Without an end that may become one of these words, or a mark of the dialect.
std::string_view CertainText(std::string_view text, const TurnMarks& marks,
                             const std::vector<std::string>& stops);

// All that can be told of a text, which is the whole turn where its end is given, and else what has
// come of it so far. `stops` are the client's own; the text has none of them.
TurnDelta ReadServedText(const Dialect& dialect, std::string_view text,
                         const std::vector<std::string>& stops, const TurnReadingOptions& options,
                         std::optional<TurnEnd> end);

// Whether a text begins as a call without a mark may begin (TurnMarks::bare_calls).
bool MayBeBareCall(std::string_view text, const TurnMarks& marks);

// The calls of what stands behind the thoughts of a turn, at text[at]; empty where nobody may call.
std::vector<ParsedCall> CallsBehind(const ParsedTurn& parsed, size_t at, const TurnMarks& marks,
                                    bool may_call);
// `rest` behind a thought of its own, as CallsBehind wants it parsed: nothing in it is read as a
// thought because of a later closing mark.
std::string BehindThought(std::string_view rest, const TurnMarks& marks);

}  // namespace hone
