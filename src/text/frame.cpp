#include "text/frame.h"

#include <utility>

#include "base/utf8.h"

namespace hone {
namespace {

// Whether the calls of the last assistant message ask for more results than have come.
bool WantsResults(const std::vector<Message>& messages) {
  size_t results = 0;
  for (size_t i = messages.size(); i-- > 0;) {
    if (messages[i].role == Role::kAssistant) return results < messages[i].calls.size();
    if (messages[i].role == Role::kTool) ++results;
  }
  return false;
}

// Lays messages out one after the other. The markers between a policy turn and what follows it are
// held back (`glue_`) until something does follow.
class Layout {
 public:
  Layout(const Frame& frame, const Spelling& spelling, const Conversation& conversation)
      : frame_(frame), spelling_(spelling), conversation_(conversation) {}

  // As if the policy had just written `turn`.
  void AfterTurn(std::string_view turn) {
    const bool closed = !frame_.policy_close.empty() && turn.ends_with(frame_.policy_close);
    glue_ = closed ? frame_.policy_after : frame_.policy_close + frame_.policy_after;
    after_policy_ = true;
  }

  void Opening() {
    const auto& messages = conversation_.messages;
    const bool has_system = !messages.empty() && messages[0].role == Role::kSystem;
    PieceBuilder builder(Author::kSystem);
    spelling_.opening(has_system ? &messages[0].content : nullptr, conversation_.tools, &builder);
    if (!builder.empty()) pieces_.push_back(std::move(builder).Take());
    if (has_system) next_ = 1;
  }

  Result<void> Messages() {
    const auto& messages = conversation_.messages;
    while (next_ < messages.size()) {
      switch (messages[next_].role) {
        case Role::kSystem: Plain(Author::kSystem, frame_.system_open, frame_.system_close); break;
        case Role::kUser: Plain(Author::kUser, frame_.user_open, frame_.user_close); break;
        case Role::kTool: Results(); break;
        case Role::kAssistant: HONE_RETURN_IF_ERROR(PolicyTurn()); break;
      }
    }
    return {};
  }

  void End() {
    const bool prompt = conversation_.add_generation_prompt.value_or(PolicyIsNext(conversation_));
    // A turn whose results will stand inside it is not over before they have come.
    const bool open = frame_.inline_results && ResultsArePending();
    if (after_policy_ && !open) AppendMarkers(glue_);
    glue_.clear();
    after_policy_ = false;
    if (!prompt) return;
    Prompt(frame_.policy_open +
           (spelling_.prompt_suffix ? spelling_.prompt_suffix(conversation_) : ""));
  }

  std::vector<Piece> Take() && { return std::move(pieces_); }

 private:
  // A new piece, begun with what the last policy turn left to be said: also when results have been
  // put inside that turn, and somebody else speaks before the policy goes on.
  PieceBuilder NewPiece(Author author) {
    PieceBuilder builder(author);
    builder.Marker(in_policy_turn_ ? turn_close_ : glue_);
    glue_.clear();
    after_policy_ = false;
    in_policy_turn_ = false;
    return builder;
  }

  void Plain(Author author, const std::string& open, const std::string& close) {
    PieceBuilder builder = NewPiece(author);
    builder.Marker(open).Content(conversation_.messages[next_++]).Marker(close);
    pieces_.push_back(std::move(builder).Take());
  }

  // All results in a row are one piece.
  void Results() {
    const bool inside_turn = frame_.inline_results && after_policy_;
    if (inside_turn) turn_close_ = std::exchange(glue_, "");
    PieceBuilder builder = NewPiece(Author::kTool);
    builder.Marker(frame_.results_open);
    const auto& messages = conversation_.messages;
    for (; next_ < messages.size() && messages[next_].role == Role::kTool; ++next_) {
      const auto [open, close] = spelling_.result_markers
                                     ? spelling_.result_markers(messages[next_])
                                     : std::pair(frame_.result_open, frame_.result_close);
      builder.Marker(open).Content(messages[next_].content).Marker(close);
    }
    if (next_ < messages.size() || !ResultsArePending()) builder.Marker(frame_.results_close);
    pieces_.push_back(std::move(builder).Take());
    in_policy_turn_ = inside_turn;
  }

  Result<void> PolicyTurn() {
    if (after_policy_) AppendMarkers(glue_);
    glue_.clear();
    Prompt(frame_.policy_open +
           (spelling_.turn_prefix ? spelling_.turn_prefix(conversation_, next_) : ""));
    PieceBuilder builder(Author::kPolicy);
    HONE_RETURN_IF_ERROR(spelling_.turn(conversation_, next_, &builder));
    if (frame_.policy_writes_close) builder.Marker(frame_.policy_close);
    if (!builder.empty()) pieces_.push_back(std::move(builder).Take());
    glue_ = frame_.policy_writes_close ? frame_.policy_after
                                       : frame_.policy_close + frame_.policy_after;
    after_policy_ = true;
    in_policy_turn_ = false;
    ++next_;
    return {};
  }

  // Puts the generation prompt behind the last piece, unless the policy is in its turn already.
  void Prompt(const std::string& text) {
    if (!in_policy_turn_) AppendMarkers(text);
    in_policy_turn_ = false;
  }

  void AppendMarkers(const std::string& text) {
    if (text.empty()) return;
    if (pieces_.empty() || pieces_.back().author == Author::kPolicy) {
      pieces_.push_back({Author::kSystem, "", {}, nullptr, {}});
    }
    pieces_.back().text += text;
  }

  // Only when the caller leaves it to us: then the block of results stays open for the others.
  bool ResultsArePending() const {
    return !conversation_.add_generation_prompt.has_value() && WantsResults(conversation_.messages);
  }

  const Frame& frame_;
  const Spelling& spelling_;
  const Conversation& conversation_;
  std::vector<Piece> pieces_;
  size_t next_ = 0;
  std::string glue_;             // between the last policy turn and what follows it
  std::string turn_close_;       // the same for a turn that results were put inside of
  bool after_policy_ = false;    // the last thing laid out was a policy turn
  bool in_policy_turn_ = false;  // results were put inside a turn that goes on
};

}  // namespace

bool PolicyIsNext(const Conversation& conversation) {
  if (conversation.messages.empty()) return false;
  const Role last = conversation.messages.back().role;
  return last == Role::kUser || (last == Role::kTool && !WantsResults(conversation.messages));
}

Frame ChatMlFrame() {
  Frame frame;
  frame.system_open = "<|im_start|>system\n";
  frame.system_close = "<|im_end|>\n";
  frame.user_open = "<|im_start|>user\n";
  frame.user_close = "<|im_end|>\n";
  frame.policy_open = "<|im_start|>assistant\n";
  frame.policy_close = "<|im_end|>";
  frame.policy_after = "\n";
  frame.results_open = "<|im_start|>user";
  frame.result_open = "\n<tool_response>\n";
  frame.result_close = "\n</tool_response>";
  frame.results_close = "<|im_end|>\n";
  return frame;
}

Frame PlainFrame() {
  Frame frame;
  frame.system_open = "<system>";
  frame.system_close = "</system>";
  frame.user_open = "<user>";
  frame.user_close = "</user>";
  frame.result_open = "<tool_response>";
  frame.result_close = "</tool_response>";
  return frame;
}

PieceBuilder& PieceBuilder::Marker(std::string_view text) {
  piece_.text += text;
  return *this;
}

PieceBuilder& PieceBuilder::Content(std::string_view text) {
  const size_t begin = piece_.text.size();
  if (IsUtf8(text)) {
    piece_.text += text;
  } else {
    piece_.text += Utf8Lossy(text);
  }
  if (piece_.text.size() > begin) piece_.literal.push_back({begin, piece_.text.size()});
  return *this;
}

PieceBuilder& PieceBuilder::Content(const Message& message) {
  const size_t begin = piece_.text.size();
  Content(std::string_view(message.content));
  if (message.own_words) piece_.own_words.push_back({begin, piece_.text.size()});
  return *this;
}

void SpellSystem(const Frame& frame, const std::string* system, const Json::Array& tools,
                 std::string_view how_to_act, PieceBuilder* out) {
  if (system == nullptr && tools.empty()) return;
  out->Marker(frame.system_open);
  if (system != nullptr) out->Content(*system);
  if (!tools.empty()) {
    if (system != nullptr) out->Marker("\n\n");
    out->Marker("# Tools\n");
    for (const Json& tool : tools) out->Content(DumpJson(tool, JsonStyle::kSpaced)).Marker("\n");
    out->Marker("\n").Marker(how_to_act);
  }
  out->Marker(frame.system_close);
}

Result<std::vector<Piece>> RenderInFrame(const Frame& frame, const Spelling& spelling,
                                         const Conversation& conversation) {
  Layout layout(frame, spelling, conversation);
  layout.Opening();
  HONE_RETURN_IF_ERROR(layout.Messages());
  layout.End();
  std::vector<Piece> pieces = std::move(layout).Take();
  for (Piece& piece : pieces) piece.reserved = frame.reserved;
  return pieces;
}

Result<Piece> ContinueInFrame(const Frame& frame, const Spelling& spelling, std::string_view turn,
                              const Conversation& next) {
  if (next.messages.empty() || !next.tools.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "a continuation has messages, and no tools: those stand at the beginning");
  }
  for (const Message& message : next.messages) {
    if (message.role == Role::kAssistant) {
      return Error(ErrorCode::kInvalidArgument, "a continuation holds no turn of the assistant's");
    }
  }
  Conversation going_on = next;
  going_on.add_generation_prompt = next.add_generation_prompt.value_or(true);
  Layout layout(frame, spelling, going_on);
  layout.AfterTurn(turn);
  HONE_RETURN_IF_ERROR(layout.Messages());
  layout.End();
  // Results and a user's message after them are one addition to the context.
  Piece whole;
  whole.reserved = frame.reserved;
  for (Piece& piece : std::move(layout).Take()) {
    if (whole.text.empty()) whole.author = piece.author;
    for (auto part : {&Piece::literal, &Piece::own_words}) {
      for (const ByteRange& range : piece.*part) {
        (whole.*part).push_back({range.begin + whole.text.size(), range.end + whole.text.size()});
      }
    }
    whole.text += piece.text;
  }
  return whole;
}

}  // namespace hone
