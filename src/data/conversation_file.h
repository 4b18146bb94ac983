#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/conversation_row.h"
#include "data/conversation_shapes.h"

namespace hone {

// What is wrong with a row of a file.
struct RowProblem {
  int64_t line = 0;  // from 1; of a JSON array, the element's number
  std::string text;

  bool operator==(const RowProblem&) const = default;
};

struct ConversationFile {
  std::vector<ConversationRow> rows;  // those that could be read
  std::vector<Json> messages;         // each as ShapedRow has it; kept only where wanted
  std::vector<int64_t> lines;         // of each
  std::map<RowShape, int64_t> shapes;
  std::vector<RowProblem> problems;
};

enum class KeepMessages { kNo, kYes };

// JSON Lines, or one JSON array, of rows in any of the shapes there are. Every problem of every
// row is listed.
ConversationFile ReadConversations(std::string_view text, KeepMessages keep = KeepMessages::kNo);

// All of them in one error, one line each ("chats.jsonl:3: ..."), the first `most` of them; or
// success.
Result<void> NoProblems(const ConversationFile& file, std::string_view name, size_t most = 20);

}  // namespace hone
