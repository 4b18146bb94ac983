#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/dialect.h"

namespace hone {

// The markers that stand around messages, and how a conversation is laid out between them. This is
// what dialects share; how a call or an answer is spelled inside a policy turn is their own.
struct Frame {
  std::string system_open, system_close;
  std::string user_open, user_close;
  std::string policy_open;   // the generation prompt
  std::string policy_close;  // ends a policy turn
  std::string policy_after;  // stands between that and the next message
  std::string results_open, result_open, result_close, results_close;
  bool inline_results = false;       // results stand inside the policy's turn, which goes on
  bool policy_writes_close = false;  // the policy itself writes policy_close
  std::shared_ptr<const ReservedTokens> reserved;  // put on every piece
};

// ChatML, as Qwen has it.
Frame ChatMlFrame();
// Plain tags: <system>…</system><user>…</user>, results in <tool_response>.
Frame PlainFrame();

// Builds a piece out of frame text and literal message text.
class PieceBuilder {
 public:
  explicit PieceBuilder(Author author) { piece_.author = author; }
  PieceBuilder& Marker(std::string_view text);
  PieceBuilder& Content(std::string_view text);  // ill-formed UTF-8 becomes U+FFFD
  PieceBuilder& Content(const Message& message);
  bool empty() const { return piece_.text.empty(); }
  Piece Take() && { return std::move(piece_); }

 private:
  Piece piece_;
};

// The system message of dialects that list tools plainly: what the user wrote, the tools one per
// line, and how to act. Nothing when there is neither.
void SpellSystem(const Frame& frame, const std::string* system, const Json::Array& tools,
                 std::string_view how_to_act, PieceBuilder* out);

// Whether the policy speaks next, where the caller does not say: when the last message is the
// user's or the last of the results that the calls before it ask for.
bool PolicyIsNext(const Conversation& conversation);

// What a dialect adds to its frame.
struct Spelling {
  // The system part, tools included; nothing for none. `system` is the first message's text or
  // null.
  std::function<void(const std::string* system, const Json::Array& tools, PieceBuilder*)> opening;
  // The policy turn of messages[index], without policy_close.
  std::function<Result<void>(const Conversation&, size_t index, PieceBuilder*)> turn;
  // Put behind policy_open where the policy goes on; null: nothing.
  std::function<std::string(const Conversation&)> prompt_suffix;
  // Put behind policy_open before the turn of messages[index], which `turn` then leaves out; null:
  // nothing.
  std::function<std::string(const Conversation&, size_t index)> turn_prefix;
  // The marker pair around one tool result; null: the frame's.
  std::function<std::pair<std::string, std::string>(const Message&)> result_markers;
};

Result<std::vector<Piece>> RenderInFrame(const Frame& frame, const Spelling& spelling,
                                         const Conversation& conversation);
Result<Piece> ContinueInFrame(const Frame& frame, const Spelling& spelling, std::string_view turn,
                              const Conversation& next);

}  // namespace hone
