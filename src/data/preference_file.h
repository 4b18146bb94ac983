#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "data/attempt_log.h"
#include "data/conversation_row.h"

// Pairs of conversations, one of which is preferred.

namespace hone {

// What a row says: the same beginning with two continuations. Only the continuations' turns of the
// assistant count as imitated.
struct PreferenceRow {
  ConversationRow chosen, rejected;
};

// JSON Lines, or one JSON array, of rows as TRL has them: {"prompt", "chosen", "rejected",
// "tools"}. Each of the three is a list of messages or a text; without a prompt it is what both
// begin with. The error has every problem, one per line: "pairs.jsonl:3: chosen: ...".
Result<std::vector<PreferenceRow>> ReadPreferences(std::string_view text, std::string_view name);

// The pairs that attempts at the same tasks give, as rows of such a file, with "because":
//   "right"      what went well before what did not,
//   "efficient"  of two that went well that with fewer calls.
// The chosen one is the task's best: it went well, then with the fewest calls, then the fewest
// tokens. At most so many pairs per task, those with wrong ones first. Attempts that say the same
// count once.
std::vector<Json> PreferencePairsOf(const std::vector<PlayedAttempt>& attempts,
                                    const AttemptChoice& choice, int64_t most_per_task);

}  // namespace hone
