#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/result.h"
#include "tools/journal/journal.h"

// The JSON form of a journal's calls, one per line (docs/formats/journal.md).

namespace hone {

inline constexpr std::string_view kJournalLineFormat = "hone.call";
inline constexpr int64_t kJournalLineVersion = 1;

using JournalLine = std::variant<JournalEntry, BegunCall>;

Json JournalLineToJson(const JournalEntry& entry);
Json JournalLineToJson(const BegunCall& begun);
// Errors name the key. A version this program does not know is kVersion.
Result<JournalLine> JournalLineFromJson(const Json& json);

// The attempts as a JSON array, in which content equal to the result's is left out; absent when
// there was exactly one and it is the result.
std::optional<Json> AttemptsToJson(const JournalEntry& entry);
// The opposite, into an entry that has its result already; null: absent.
Result<void> AttemptsFromJson(const Json* json, JournalEntry* entry);

}  // namespace hone
