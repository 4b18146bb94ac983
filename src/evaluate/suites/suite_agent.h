#pragma once

#include <string>
#include <vector>

#include "envs/play.h"
#include "simulate/models/chat_model.h"

namespace hone {

struct SuiteAgentOptions {
  double temperature = 0;
  int64_t max_tokens = 1024;  // of a turn
  uint64_t seed = 0;
};

// A model behind an endpoint as an agent: the conversation goes out as chat messages, calls and
// text come back. Calls whose arguments are no JSON object are faults. It leaves when the endpoint
// does not answer. The model must outlive it.
class SuiteAgent final : public Agent {
 public:
  SuiteAgent(ChatModel* model, const SuiteAgentOptions& options)
      : model_(model), options_(options) {}

  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override;
  bool left() const override { return !problem_.empty(); }

  const std::string& problem() const { return problem_; }  // why it left; empty: it did not
  // Of all its turns.
  const TokenUsage& tokens() const { return tokens_; }
  double money() const { return money_; }
  int64_t latency_us() const { return latency_us_; }

 private:
  Json MessagesSoFar(const Opening& opening, const std::vector<PlayedTurn>& turns) const;

  ChatModel* const model_;
  const SuiteAgentOptions options_;
  std::vector<Json> said_;  // its own messages, as the endpoint gave them
  std::string problem_;
  TokenUsage tokens_;
  double money_ = 0;
  int64_t latency_us_ = 0;
};

}  // namespace hone
