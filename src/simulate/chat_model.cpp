#include "simulate/chat_model.h"

#include <fmt/format.h>

#include "simulate/endpoint_client.h"
#include "simulate/model_budget.h"
#include "tools/caller.h"
#include "tools/modes.h"

namespace hone {
namespace {

constexpr std::string_view kChatTool = "chat";
constexpr int32_t kMostRecordedFailures = 1000;

ToolSpec ChatSpec() {
  return {.name = std::string(kChatTool),
          .description = "The next turn of a conversation.",
          .parameters = ParseJson(R"({"type": "object", "required": ["messages"],
              "properties": {"messages": {"type": "array", "minItems": 1}}})")
                            .value(),
          .effect = Effect::kReads,
          .resource = "language model"};
}

// The tool `chat`: the body of a request, but for the model's name, to {"text", "cut", "calls",
// "usage": {"prompt", "completion"}}.
class ChatToolkit final : public Toolkit {
 public:
  explicit ChatToolkit(EndpointClient client) : client_(std::move(client)) {}

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*,
                 const CallLimits& limits) override {
    Json body = Json::Of({{"model", client_.model()}});
    for (const auto& [key, value] : arguments.AsObject()) body.Set(key, value);
    return client_.Post(body, limits, [](const EndpointClient::Choice& choice) {
      const Json *content = choice.message.Find("content"),
                 *calls = choice.message.Find("tool_calls");
      const bool said = content != nullptr && content->is_string();
      Json answer = Json::Of({{"text", said ? *content : Json("")}, {"cut", choice.cut}});
      answer.Set("calls", calls != nullptr && calls->is_array() ? *calls : Json(Json::Array()));
      if (const auto used =
              UsageOf(choice.answer.Find("usage"), "prompt_tokens", "completion_tokens")) {
        answer.Set("usage", Json::Of({{"prompt", used->prompt}, {"completion", used->completion}}));
      }
      return Answered(DumpJson(answer));
    });
  }

 private:
  const EndpointClient client_;
  const std::vector<ToolSpec> specs_ = {ChatSpec()};
};

Json BodyOf(const ChatRequest& request) {
  Json body = Json::Of({{"messages", request.messages},
                        {"temperature", request.temperature},
                        {"max_tokens", request.max_tokens},
                        // Endpoints want a signed number, some of them one of 32 bits.
                        {"seed", static_cast<int64_t>(request.seed & 0x7fffffff)}});
  if (!request.tools.AsArray().empty()) body.Set("tools", request.tools);
  return body;
}

class EndpointChat final : public ChatModel {
 public:
  EndpointChat(LanguageModelOptions options, std::shared_ptr<const Toolbox> toolbox,
               std::unique_ptr<Timeline> timeline, ExecutorOptions executor)
      : options_(std::move(options)),
        budget_(options_),
        sessions_(std::make_shared<Sessions>(std::move(toolbox), 0)),
        timeline_(std::move(timeline)),
        executor_(std::move(executor), timeline_.get()),
        caller_(&executor_) {}

  const std::string& name() const override { return options_.name; }
  ModelAccount account() const override { return budget_.account(); }

  ChatTurn Complete(const ChatRequest& request) override {
    const Json body = BodyOf(request);
    const std::string key = ContentHash(Json::Of({{"model", name()}, {"chat", body}}));
    // No tokenizer makes more tokens than there are bytes; templates add some of their own.
    const TokenUsage asked{256 + 2 * static_cast<int64_t>(DumpJson(body).size()),
                           request.max_tokens};
    const TokenUsage most = IsRecorded(key) ? TokenUsage{} : asked;
    if (std::optional<std::string> spent = budget_.SetAside(most)) {
      ChatTurn refused;
      refused.status = CompletionStatus::kBudget;
      refused.problem = *std::move(spent);
      return refused;
    }
    CallOutcome outcome;
    // A failure that an earlier run recorded stands for that run; this one tries again.
    for (int32_t turn = 0; turn < kMostRecordedFailures; ++turn) {
      outcome = caller_.Call({IdentityOf(key, turn), std::string(kChatTool), body, sessions_});
      if (outcome.source != CallSource::kJournal || outcome.result.status == CallStatus::kOk) break;
    }
    ChatTurn made = Read(outcome.result, asked);
    made.recorded = outcome.source == CallSource::kJournal;
    made.money = made.status == CompletionStatus::kOk ? budget_.Price(made.usage) : 0;
    const TokenUsage used =
        made.status == CompletionStatus::kOk ? made.usage : PerhapsUsed(outcome.result, most);
    budget_.Charge(made.status, made.recorded, used, most);
    return made;
  }

 private:
  static CallIdentity IdentityOf(const std::string& key, int32_t turn) {
    return {.run = "chat model", .task = key, .path = "0", .turn = turn};
  }

  bool IsRecorded(const std::string& key) const {
    if (options_.journal == nullptr) return false;
    const Result<Journal::Found> found = options_.journal->Find(IdentityOf(key, 0));
    return found.ok() && found->entry && found->entry->result.status == CallStatus::kOk;
  }

  static ChatTurn Read(const ToolResult& result, const TokenUsage& most) {
    ChatTurn turn;
    turn.latency_us = result.latency_us;
    const Result<Json> answer = ParseJson(result.content);
    if (result.status != CallStatus::kOk || !answer.ok() || answer->Find("text") == nullptr) {
      turn.status = CompletionStatus::kUnavailable;
      turn.problem = result.status != CallStatus::kOk
                         ? result.content
                         : "the completion is not readable; it may be too long";
      return turn;
    }
    turn.text = answer->Find("text")->AsString();
    turn.cut = *answer->Find("cut") == Json(true);
    turn.calls = *answer->Find("calls");
    turn.usage = UsageOf(answer->Find("usage"), "prompt", "completion").value_or(most);
    return turn;
  }

  const LanguageModelOptions options_;
  ModelBudget budget_;
  const std::shared_ptr<Sessions> sessions_;
  const std::unique_ptr<Timeline> timeline_;
  Executor executor_;
  Caller caller_;
};

}  // namespace

Result<std::unique_ptr<ChatModel>> NewChatModel(const EndpointOptions& endpoint,
                                                LanguageModelOptions options,
                                                std::unique_ptr<Timeline> timeline) {
  if (options.name.empty()) options.name = fmt::format("{} at {}", endpoint.model, endpoint.url);
  HONE_ASSIGN_OR_RETURN(EndpointClient client, EndpointClient::New(endpoint));
  std::shared_ptr<Toolkit> toolkit = std::make_shared<ChatToolkit>(std::move(client));
  HONE_ASSIGN_OR_RETURN(Toolbox made, Toolbox::Of({{std::move(toolkit), options.limits}}));
  auto toolbox = std::make_shared<const Toolbox>(std::move(made));
  AnswerPlan plan{.mode = options.offline              ? ToolMode::kReplay
                          : options.journal == nullptr ? ToolMode::kLive
                                                       : ToolMode::kRecord,
                  .journal = options.journal,
                  .seed = options.seed};
  HONE_ASSIGN_OR_RETURN(ExecutorOptions executor, OptionsFor(plan, *toolbox, timeline.get()));
  return std::unique_ptr<ChatModel>(std::make_unique<EndpointChat>(
      std::move(options), std::move(toolbox), std::move(timeline), std::move(executor)));
}

}  // namespace hone
