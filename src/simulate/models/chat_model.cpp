#include "simulate/models/chat_model.h"

#include <fmt/format.h>

#include "simulate/models/endpoint_client.h"
#include "simulate/models/metered_tool.h"

namespace hone {
namespace {

constexpr std::string_view kChatTool = "chat";

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
// "reasoning", "usage": {"prompt", "completion"}}.
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
      const Json* thought = choice.message.Find("reasoning_content");
      if (thought != nullptr && thought->is_string()) answer.Set("reasoning", *thought);
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
  explicit EndpointChat(std::unique_ptr<MeteredTool> tool) : tool_(std::move(tool)) {}

  const std::string& name() const override { return tool_->name(); }
  ModelAccount account() const override { return tool_->account(); }

  ChatTurn Complete(const ChatRequest& request) override {
    const Json body = BodyOf(request);
    // No tokenizer makes more tokens than there are bytes; templates add some of their own.
    const TokenUsage most{256 + 2 * static_cast<int64_t>(DumpJson(body).size()),
                          request.max_tokens};
    const std::string key = ContentHash(Json::Of({{"model", name()}, {"chat", body}}));
    MeteredTool::Asked asked = tool_->Ask(key, body, most);
    if (asked.refused) {
      ChatTurn refused;
      refused.status = CompletionStatus::kBudget;
      refused.problem = *std::move(asked.refused);
      return refused;
    }
    ChatTurn made = Read(asked.result, most);
    made.recorded = asked.recorded;
    made.money = made.status == CompletionStatus::kOk ? tool_->Price(made.usage) : 0;
    tool_->Charge(asked, made.status, made.usage);
    return made;
  }

 private:
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
    if (const Json* thought = answer->Find("reasoning")) turn.reasoning = thought->AsString();
    turn.usage = UsageOf(answer->Find("usage"), "prompt", "completion").value_or(most);
    return turn;
  }

  const std::unique_ptr<MeteredTool> tool_;
};

}  // namespace

Result<std::unique_ptr<ChatModel>> NewChatModel(const EndpointOptions& endpoint,
                                                LanguageModelOptions options,
                                                std::unique_ptr<Timeline> timeline) {
  if (options.name.empty()) options.name = fmt::format("{} at {}", endpoint.model, endpoint.url);
  HONE_ASSIGN_OR_RETURN(EndpointClient client, EndpointClient::New(endpoint));
  std::shared_ptr<Toolkit> toolkit = std::make_shared<ChatToolkit>(std::move(client));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<MeteredTool> tool,
                        MeteredTool::New(std::move(toolkit), kChatTool, "chat model",
                                         std::move(options), std::move(timeline)));
  return std::unique_ptr<ChatModel>(std::make_unique<EndpointChat>(std::move(tool)));
}

}  // namespace hone
