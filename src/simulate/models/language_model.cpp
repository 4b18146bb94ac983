#include "simulate/models/language_model.h"

#include <fmt/format.h>

#include "simulate/models/metered_tool.h"
#include "simulate/single_flight.h"

namespace hone {
namespace {

// An upper bound of the tokens of a prompt: no tokenizer makes more of them than there are bytes,
// and every message has some of its own around it.
int64_t MostPromptTokens(const CompletionRequest& request) {
  int64_t bytes = 16;
  for (const ChatMessage& message : request.messages) {
    bytes += static_cast<int64_t>(message.role.size() + message.content.size()) + 16;
  }
  return bytes;
}

class ExecutedModel final : public LanguageModel {
 public:
  explicit ExecutedModel(std::unique_ptr<MeteredTool> tool) : tool_(std::move(tool)) {}

  const std::string& name() const override { return tool_->name(); }
  ModelAccount account() const override { return tool_->account(); }

  Completion Complete(const CompletionRequest& request) override {
    const Json arguments = CompleteArguments(request);
    const std::string key = ContentHash(Json::Of({{"model", name()}, {"request", arguments}}));
    return flights_.Get(key, [&] {
      Completion completion = Ask(request, arguments, key);
      const bool keep = completion.status == CompletionStatus::kOk;
      return SingleFlight<Completion>::Made{std::move(completion), keep};
    });
  }

 private:
  Completion Ask(const CompletionRequest& request, const Json& arguments, const std::string& key) {
    MeteredTool::Asked asked =
        tool_->Ask(key, arguments, {MostPromptTokens(request), request.max_tokens});
    if (asked.refused) {
      return {.status = CompletionStatus::kBudget, .problem = *std::move(asked.refused)};
    }
    Completion completion = Read(asked.result, asked.set_aside);
    completion.recorded = asked.recorded;
    tool_->Charge(asked, completion.status, completion.usage);
    return completion;
  }

  static Completion Read(const ToolResult& result, const TokenUsage& most) {
    Completion completion;
    if (result.status != CallStatus::kOk) {
      completion.status = CompletionStatus::kUnavailable;
      completion.problem = fmt::format("{}: {}", CallStatusName(result.status), result.content);
      return completion;
    }
    const Result<Json> answer = ParseJson(result.content);
    const Json* found = answer.ok() ? answer->Find("text") : nullptr;
    if (found == nullptr || !found->is_string()) {
      completion.status = CompletionStatus::kUnavailable;
      completion.problem = "the completion is not readable; it may be longer than max_result_bytes";
      return completion;
    }
    completion.text = found->AsString();
    completion.cut = answer->Find("cut") != nullptr && *answer->Find("cut") == Json(true);
    completion.usage = UsageOf(answer->Find("usage"), "prompt", "completion").value_or(most);
    return completion;
  }

  const std::unique_ptr<MeteredTool> tool_;
  SingleFlight<Completion> flights_;
};

}  // namespace

Conversation ConversationOf(const std::vector<ChatMessage>& messages) {
  Conversation conversation;
  for (const ChatMessage& message : messages) {
    const Role role = message.role == "system" ? Role::kSystem
                      : message.role == "user" ? Role::kUser
                                               : Role::kAssistant;
    conversation.messages.push_back({.role = role, .content = message.content});
  }
  return conversation;
}

std::optional<TokenUsage> UsageOf(const Json* json, const char* prompt, const char* completion) {
  const Json* first = json == nullptr ? nullptr : json->Find(prompt);
  const Json* second = json == nullptr ? nullptr : json->Find(completion);
  if (first == nullptr || second == nullptr || !first->is_integer() || !second->is_integer() ||
      first->AsInteger() < 0 || second->AsInteger() < 0) {
    return std::nullopt;
  }
  return TokenUsage{first->AsInteger(), second->AsInteger()};
}

std::string_view CompletionStatusName(CompletionStatus status) {
  switch (status) {
    case CompletionStatus::kOk: return "ok";
    case CompletionStatus::kBudget: return "budget";
    case CompletionStatus::kUnavailable: return "unavailable";
  }
  return "unknown";
}

Json ModelAccount::ToJson() const {
  return Json::Of({{"completions", completions},
                   {"recorded", recorded},
                   {"failures", failures},
                   {"refused", refused},
                   {"prompt_tokens", usage.prompt},
                   {"completion_tokens", usage.completion},
                   {"money", money}});
}

ToolSpec CompleteSpec() {
  return {.name = std::string(kCompleteTool),
          .description = "A completion of a conversation.",
          .parameters = ParseJson(R"({"type": "object", "additionalProperties": false,
              "required": ["messages", "temperature", "max_tokens", "seed", "json"],
              "properties": {"messages": {"type": "array", "minItems": 1, "items": {
                  "type": "object", "required": ["role", "content"], "properties": {
                    "role": {"enum": ["system", "user", "assistant"]},
                    "content": {"type": "string"}}}},
                "temperature": {"type": "number", "minimum": 0},
                "max_tokens": {"type": "integer", "minimum": 1},
                "seed": {"type": "integer", "minimum": 0}, "json": {"type": "boolean"}}})")
                            .value(),
          .effect = Effect::kReads,
          .resource = "language model"};
}

Json CompleteArguments(const CompletionRequest& request) {
  Json::Array messages;
  for (const ChatMessage& message : request.messages) {
    messages.push_back(Json::Of({{"role", message.role}, {"content", message.content}}));
  }
  return Json::Of({{"messages", std::move(messages)},
                   {"temperature", request.temperature},
                   {"max_tokens", request.max_tokens},
                   // Endpoints want a signed number, some of them one of 32 bits.
                   {"seed", static_cast<int64_t>(request.seed & 0x7fffffff)},
                   {"json", request.json}});
}

CompletionRequest CompletionRequestOf(const Json& arguments) {
  CompletionRequest request{.temperature = arguments.Find("temperature")->AsDouble(),
                            .max_tokens = arguments.Find("max_tokens")->AsInteger(),
                            .seed = arguments.Find("seed")->AsUint64().value_or(0),
                            .json = arguments.Find("json")->AsBool()};
  for (const Json& message : arguments.Find("messages")->AsArray()) {
    request.messages.push_back(
        {message.Find("role")->AsString(), message.Find("content")->AsString()});
  }
  return request;
}

std::string CompleteAnswer(const std::string& text, bool cut,
                           const std::optional<TokenUsage>& usage) {
  Json answer = Json::Of({{"text", text}, {"cut", cut}});
  if (usage) {
    answer.Set("usage", Json::Of({{"prompt", usage->prompt}, {"completion", usage->completion}}));
  }
  return DumpJson(answer);
}

Result<std::unique_ptr<LanguageModel>> NewLanguageModel(std::shared_ptr<Toolkit> toolkit,
                                                        LanguageModelOptions options,
                                                        std::unique_ptr<Timeline> timeline) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<MeteredTool> tool,
                        MeteredTool::New(std::move(toolkit), kCompleteTool, "language model",
                                         std::move(options), std::move(timeline)));
  return std::unique_ptr<LanguageModel>(std::make_unique<ExecutedModel>(std::move(tool)));
}

}  // namespace hone
