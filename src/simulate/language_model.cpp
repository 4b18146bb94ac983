#include "simulate/language_model.h"

#include <fmt/format.h>

#include "simulate/model_budget.h"
#include "simulate/single_flight.h"
#include "tools/caller.h"
#include "tools/modes.h"

namespace hone {
namespace {

constexpr int32_t kMostTurnFailures = 1000;

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
  ExecutedModel(LanguageModelOptions options, std::shared_ptr<const Toolbox> toolbox,
                std::unique_ptr<Timeline> timeline, ExecutorOptions executor)
      : options_(std::move(options)),
        budget_(options_),
        sessions_(std::make_shared<Sessions>(std::move(toolbox), 0)),
        timeline_(std::move(timeline)),
        executor_(std::move(executor), timeline_.get()),
        caller_(&executor_) {}

  const std::string& name() const override { return options_.name; }

  Completion Complete(const CompletionRequest& request) override {
    const Json arguments = CompleteArguments(request);
    const std::string key = ContentHash(Json::Of({{"model", name()}, {"request", arguments}}));
    return flights_.Get(key, [&] {
      Completion completion = Ask(request, arguments, key);
      const bool keep = completion.status == CompletionStatus::kOk;
      return SingleFlight<Completion>::Made{std::move(completion), keep};
    });
  }

  ModelAccount account() const override { return budget_.account(); }

 private:
  Completion Ask(const CompletionRequest& request, const Json& arguments, const std::string& key) {
    // What is recorded costs nothing, and so needs no budget.
    const TokenUsage most =
        IsRecorded(key) ? TokenUsage{} : TokenUsage{MostPromptTokens(request), request.max_tokens};
    if (std::optional<std::string> spent = budget_.SetAside(most)) {
      return {.status = CompletionStatus::kBudget, .problem = *std::move(spent)};
    }
    CallOutcome outcome;
    // A failure that an earlier run recorded stands for that run; this one tries again.
    for (int32_t turn = 0; turn < kMostTurnFailures; ++turn) {
      outcome =
          caller_.Call({IdentityOf(key, turn), std::string(kCompleteTool), arguments, sessions_});
      if (outcome.source != CallSource::kJournal || outcome.result.status == CallStatus::kOk) break;
    }
    Completion completion = Read(outcome.result, most);
    completion.recorded = outcome.source == CallSource::kJournal;
    const TokenUsage used = completion.status == CompletionStatus::kOk
                                ? completion.usage
                                : PerhapsUsed(outcome.result, most);
    budget_.Charge(completion.status, completion.recorded, used, most);
    return completion;
  }

  static CallIdentity IdentityOf(const std::string& key, int32_t turn) {
    return {.run = "language model", .task = key, .path = "0", .turn = turn};
  }

  bool IsRecorded(const std::string& key) const {
    if (options_.journal == nullptr) return false;
    const Result<Journal::Found> found = options_.journal->Find(IdentityOf(key, 0));
    return found.ok() && found->entry && found->entry->result.status == CallStatus::kOk;
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

  const LanguageModelOptions options_;
  ModelBudget budget_;
  const std::shared_ptr<Sessions> sessions_;
  const std::unique_ptr<Timeline> timeline_;
  Executor executor_;
  Caller caller_;
  SingleFlight<Completion> flights_;
};

}  // namespace

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
  HONE_ASSIGN_OR_RETURN(Toolbox made, Toolbox::Of({{std::move(toolkit), options.limits}}));
  auto toolbox = std::make_shared<const Toolbox>(std::move(made));
  CHECK(toolbox->Find(kCompleteTool) != nullptr, "a language model's toolkit has `complete`");
  AnswerPlan plan{.mode = options.offline              ? ToolMode::kReplay
                          : options.journal == nullptr ? ToolMode::kLive
                                                       : ToolMode::kRecord,
                  .journal = options.journal,
                  .seed = options.seed};
  HONE_ASSIGN_OR_RETURN(ExecutorOptions executor, OptionsFor(plan, *toolbox, timeline.get()));
  return std::unique_ptr<LanguageModel>(std::make_unique<ExecutedModel>(
      std::move(options), std::move(toolbox), std::move(timeline), std::move(executor)));
}

}  // namespace hone
