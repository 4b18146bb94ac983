#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// How a row of somebody's data set is written. Each row is told by its own keys, so that a file may
// mix them.
//
//   messages    {"messages": [{"role", "content", "tool_calls", "weight"}], "tools"}: OpenAI, TRL
//   sharegpt    {"conversations": [{"from", "value"}], "system", "tools"}
//   completion  {"prompt" | "question", "completion" | "response" | "answer" | "output"}
//   alpaca      {"instruction", "input", "output", "system", "history"}
//   calls       {"query", "tools", "answers"}: a question and the calls that it takes (xLAM)
//   text        {"text"}: plain text without anybody who speaks, for models that begin from nothing
enum class RowShape { kMessages, kShareGpt, kCompletion, kAlpaca, kCalls, kText };
std::string_view RowShapeName(RowShape shape);

struct ShapedRow {
  RowShape shape = RowShape::kMessages;
  // {"messages": [...], "tools": [...]}, as OpenAI's fine-tuning takes it; of kText {"text"}.
  Json row;
};

// The same conversation as messages. Calls that stand in the text (<tool_call>…</tool_call>) become
// calls, a thought before them (<think>…</think>) becomes `reasoning_content`, results in
// <tool_response> are unwrapped, JSON that columns hold as text is parsed. What the messages say is
// not looked at (data/conversation_row.h). The error says which key is wrong.
Result<ShapedRow> ToMessages(const Json& row);

}  // namespace hone
