#pragma once

#include "base/json.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "record/score.h"

namespace hone {

// The JSON form of a record (docs/formats/tree.md): {"format": "hone.tree", "version": 1, ...}, the
// same in files, pipes and the store.

inline constexpr std::string_view kTreeFormat = "hone.tree";
inline constexpr int64_t kTreeVersion = 1;

// Whether per-token arrays (tokens, logprobs, entropies, supports, token_versions, advantages) are
// written into the JSON, or left to a binary blob beside it.
enum class TokenArrays { kInline, kLeftOut };

Json RecordToJson(const ScoredTree& record, TokenArrays arrays = TokenArrays::kInline);

// Errors name the place ("nodes[3].calls[0].span: ..."). A version this program does not know is
// kVersion. The result is well-formed but not yet validated.
Result<ScoredTree> RecordFromJson(const Json& json);

// A task line of a user's file: "id", and "prompt" or "messages"; see docs/formats/tree.md.
Json TaskToJson(const Task& task);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Task* task);

// One result as it stands in a node.
Json ToolResultToJson(const ToolResult& result);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, ToolResult* result);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, CallStatus* value);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, CallSource* value);

Json ScoresToJson(const std::vector<Score>& scores);
void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Score* score);

}  // namespace hone
