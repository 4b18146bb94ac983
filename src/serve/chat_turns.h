#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rollout/thought_limits.h"
#include "serve/response.h"

namespace hone {

// One choice while it is drawn.
struct ChatChoice {
  ServedTurn turn;
  SampleResult drawn;
  std::vector<std::string> call_ids;
  bool begun = false;  // the client knows of it
};

// What is drawn for a chat, and recorded; and where its prompt stands in the record.
struct ChatDraw {
  ServedChat request;
  RecordedPlace place;
  int64_t most = 0;                            // tokens of a completion
  std::shared_ptr<const TurnGrammar> grammar;  // of the form that turns must have; null: any
  std::optional<ThoughtLimiter> thoughts;      // where their length is limited
};
// The errors are the request's.
Result<ChatDraw> DrawOf(const ResponseContext& context, ServedChat request);

// Turns of a chat, drawn and recorded; how the client is told of them is said below it.
class ChatTurns : public Response {
 public:
  ChatTurns(const ResponseContext& context, ChatDraw draw);

  const DrawOptions& settings() const final { return request_; }
  std::vector<Batcher::Turn> Turns() final;
  Result<std::string> Tell(const BatchTicket::News& news) final;
  Result<std::string> Finish() final;

 protected:
  // The events of a stream: before the first word of a choice; for what is new (calls from number
  // `first` on, tokens `fresh`), which may be nothing; and when all have ended.
  virtual std::string Begin(size_t index) = 0;
  virtual std::string Continue(size_t index, const TurnDelta& delta, size_t first,
                               const SampleResult& fresh) = 0;
  virtual std::string End() = 0;

  const ResponseContext& context() const { return context_; }
  const ServedChat& request() const { return request_; }
  const RecordedPlace& place() const { return place_; }
  const std::vector<ChatChoice>& choices() const { return choices_; }
  const ReplyUsage& usage() const { return usage_; }

 private:
  std::function<std::vector<TokenId>(std::span<const TokenId>)> Allowed() const;
  void Read(ChatChoice* choice);
  void NameCalls(size_t index, size_t count);
  Result<void> Record();
  void TellUnread() const;

  const ResponseContext context_;
  ServedChat request_;
  const RecordedPlace place_;
  const int64_t most_;
  const std::shared_ptr<const TurnGrammar> grammar_;
  const std::optional<ThoughtLimiter> thoughts_;
  std::vector<ChatChoice> choices_;
  ReplyUsage usage_;
  size_t kept_ = 0;  // ids of all supports
};

}  // namespace hone
