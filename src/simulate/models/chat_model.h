#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "simulate/models/endpoint.h"
#include "simulate/models/language_model.h"

namespace hone {

// A turn that is asked for.
struct ChatRequest {
  Json messages = Json::Array();  // as OpenAI has them, with calls and their results
  Json tools = Json::Array();     // schemas of what the model may call; empty: nothing
  double temperature = 0;
  int64_t max_tokens = 1024;
  uint64_t seed = 0;  // another seed is another sample
};

// What the model says and calls.
struct ChatTurn {
  CompletionStatus status = CompletionStatus::kOk;
  std::string text;
  std::string reasoning;       // what it thought before, where the endpoint says so
  Json calls = Json::Array();  // "tool_calls" as the endpoint gave them
  bool cut = false;            // max_tokens ended it
  TokenUsage usage;
  double money = 0;        // that it cost, now or when it was recorded
  int64_t latency_us = 0;  // of the asking; of a recorded one: as it was then
  std::string problem;     // why there is none
  bool recorded = false;   // it came out of the journal and cost nothing now
};

// A language model with tools, behind an endpoint. Thread-safe; Complete blocks. Limits, retries,
// the budget and the journal are as LanguageModel has them: what was had once is not asked again.
class ChatModel {
 public:
  virtual ~ChatModel() = default;

  virtual const std::string& name() const = 0;  // "gpt-x at http://..."
  virtual ChatTurn Complete(const ChatRequest& request) = 0;
  virtual ModelAccount account() const = 0;
};

// `options.name` is made from the endpoint where it is empty.
Result<std::unique_ptr<ChatModel>> NewChatModel(const EndpointOptions& endpoint,
                                                LanguageModelOptions options,
                                                std::unique_ptr<Timeline> timeline);

}  // namespace hone
