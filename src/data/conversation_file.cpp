#include "data/conversation_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes/byte_order_mark.h"
#include "base/json_lines.h"
#include "base/strings.h"

namespace hone {
namespace {

void AddProblems(int64_t line, std::string_view text, ConversationFile* file) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    file->problems.push_back({line, std::string(text.substr(0, end))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void AddRow(int64_t line, const Json& json, KeepMessages keep, ConversationFile* file) {
  Result<ShapedRow> shaped = ToMessages(json);
  if (!shaped.ok()) return AddProblems(line, shaped.error().message(), file);
  ++file->shapes[shaped->shape];
  Result<ConversationRow> row =
      shaped->shape == RowShape::kText
          ? Result<ConversationRow>({.text = shaped->row.Find("text")->AsString()})
          : RowFromMessages(shaped->row);
  if (!row.ok()) return AddProblems(line, row.error().message(), file);
  file->rows.push_back(std::move(*row));
  file->lines.push_back(line);
  if (keep == KeepMessages::kYes) file->messages.push_back(std::move(shaped->row));
}

}  // namespace

ConversationFile ReadConversations(std::string_view text, KeepMessages keep) {
  ConversationFile file;
  text = WithoutByteOrderMark(text);
  if (TrimLeft(text).starts_with('[')) {
    const Result<Json> array = ParseJson(text);
    if (!array.ok()) {
      file.problems.push_back({1, "not JSON: " + array.error().message()});
      return file;
    }
    int64_t number = 0;
    for (const Json& row : array->AsArray()) AddRow(++number, row, keep, &file);
  } else {
    ForEachJsonLine(text, [&](int64_t line, const Result<Json>& json) {
      if (json.ok()) {
        AddRow(line, *json, keep, &file);
      } else {
        file.problems.push_back({line, json.error().message()});
      }
    });
  }
  if (file.rows.empty() && file.problems.empty()) {
    file.problems.push_back({1, "there are no conversations in it"});
  }
  return file;
}

Result<void> NoProblems(const ConversationFile& file, std::string_view name, size_t most) {
  if (file.problems.empty()) return {};
  std::string text;
  const size_t shown = std::min(most, file.problems.size());
  for (size_t i = 0; i < shown; ++i) {
    const RowProblem& problem = file.problems[i];
    text += fmt::format("{}{}:{}: {}", text.empty() ? "" : "\n", name, problem.line, problem.text);
  }
  if (shown < file.problems.size()) {
    text += fmt::format("\nand {} more; hone data check {} lists them all",
                        file.problems.size() - shown, name);
  }
  return Error(ErrorCode::kInvalidArgument, std::move(text));
}

}  // namespace hone
