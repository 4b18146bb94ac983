#pragma once

#include <string>
#include <vector>

#include "envs/play.h"
#include "simulate/models/chat_model.h"

namespace hone {

struct EndpointAgentOptions {
  double temperature = 0;
  int64_t max_tokens = 1024;  // of a turn
  uint64_t seed = 0;
  // Schemas that it is shown where the opening lists none: an agent that was not trained in a place
  // cannot know its tools by heart.
  Json tools = Json::Array();
  bool without_tools = false;  // it is shown none, and what it calls is a fault
};

// A model behind an endpoint as an agent: the conversation goes out as chat messages, calls and
// text come back. Calls whose arguments are no JSON object are faults. It leaves when the endpoint
// does not answer, and when the conversation has become longer than the model can read. The model
// must outlive it.
class EndpointAgent final : public Agent {
 public:
  EndpointAgent(ChatModel* model, const EndpointAgentOptions& options)
      : model_(model), options_(options) {}

  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override;
  bool left() const override { return !problem_.empty(); }

  // A conversation that is too long for it is nobody else's fault (kTokenLimit).
  Ending ending() const override { return ending_; }
  std::string problem() const override { return problem_; }
  // The conversation as the endpoint had it, its own messages as it gave them, with its thoughts
  // (`reasoning_content`). `turns` are all that were played.
  Json Conversation(const Opening& opening, const std::vector<PlayedTurn>& turns) const;
  // The schemas that it was shown.
  Json ToolsOf(const Opening& opening) const;
  // Of all its turns.
  const TokenUsage& tokens() const { return tokens_; }
  double money() const { return money_; }
  int64_t latency_us() const { return latency_us_; }

 private:
  ChatModel* const model_;
  const EndpointAgentOptions options_;
  std::vector<Json> said_;  // its own messages, as the endpoint gave them
  std::string problem_;
  Ending ending_ = Ending::kInterrupted;  // where it left
  TokenUsage tokens_;
  double money_ = 0;
  int64_t latency_us_ = 0;
};

}  // namespace hone
