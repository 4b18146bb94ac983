#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/conversation.h"
#include "tools/journal/journal.h"
#include "tools/timeline.h"
#include "tools/toolbox.h"

namespace hone {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;

  bool operator==(const ChatMessage&) const = default;
};
// The messages as a dialect renders them.
Conversation ConversationOf(const std::vector<ChatMessage>& messages);

struct CompletionRequest {
  std::vector<ChatMessage> messages;
  double temperature = 0.2;
  int64_t max_tokens = 1024;
  uint64_t seed = 0;  // another seed is another sample
  bool json = false;  // one JSON object is wanted, where the model can be told so
};

struct TokenUsage {
  int64_t prompt = 0;
  int64_t completion = 0;

  bool operator==(const TokenUsage&) const = default;
};

// Two members of an object that count tokens; nothing when they are not both there.
std::optional<TokenUsage> UsageOf(const Json* json, const char* prompt, const char* completion);

enum class CompletionStatus {
  kOk,
  kBudget,       // tokens or money are spent; nothing was asked
  kUnavailable,  // no completion could be had, after all retries
};
std::string_view CompletionStatusName(CompletionStatus status);

struct Completion {
  CompletionStatus status = CompletionStatus::kOk;
  std::string text;
  bool cut = false;  // max_tokens ended it
  TokenUsage usage;
  std::string problem;    // why there is no text
  bool recorded = false;  // it came out of the journal and cost nothing
};

// What was used so far.
struct ModelAccount {
  int64_t completions = 0;  // that were paid for
  int64_t recorded = 0;     // that came out of the journal
  int64_t failures = 0;
  int64_t refused = 0;  // for want of budget
  TokenUsage usage;     // of what was paid for
  double money = 0;

  Json ToJson() const;
};

// Text in, text out. Thread-safe; Complete blocks.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  // What it is, with everything that its completions depend on: "gpt-x at http://...".
  virtual const std::string& name() const = 0;
  // The same request is asked once, however many ask for it and whenever.
  virtual Completion Complete(const CompletionRequest& request) = 0;
  virtual ModelAccount account() const = 0;
};

// The one tool of a toolkit that completes: {"messages", "temperature", "max_tokens", "seed",
// "json"} to {"text", "cut", "usage": {"prompt", "completion"}}; without "usage" it counts as the
// most that it can have been. No tool for agents.
inline constexpr std::string_view kCompleteTool = "complete";
ToolSpec CompleteSpec();
Json CompleteArguments(const CompletionRequest& request);
// The arguments fit CompleteSpec.
CompletionRequest CompletionRequestOf(const Json& arguments);
std::string CompleteAnswer(const std::string& text, bool cut,
                           const std::optional<TokenUsage>& usage);

struct LanguageModelOptions {
  std::string name;
  ToolLimits limits = {.deadline = std::chrono::minutes(5),
                       .attempt = std::chrono::minutes(2),
                       .retries = 4,
                       .backoff = std::chrono::milliseconds(500),
                       .max_result_bytes = 1 << 20,
                       .max_argument_bytes = 4 << 20};
  double prompt_price = 0;      // per million tokens
  double completion_price = 0;  // per million tokens
  double max_money = 0;         // 0: no limit
  int64_t max_tokens = 0;       // of prompts and completions together; 0: no limit
  uint64_t seed = 0;            // of the jitter between retries
  // Completions are recorded here and taken from here; null: neither.
  std::shared_ptr<Journal> journal;
  bool offline = false;  // only what the journal has
};

// A model in front of a toolkit whose tool is `complete`. Calls go through an executor: limits,
// retries, deadlines and the journal apply. A budget is never exceeded, because what a completion
// can cost at most is set aside before it is asked for.
Result<std::unique_ptr<LanguageModel>> NewLanguageModel(std::shared_ptr<Toolkit> toolkit,
                                                        LanguageModelOptions options,
                                                        std::unique_ptr<Timeline> timeline);

}  // namespace hone
