// POST /v1/responses: what was drawn, as items and as typed events.

#include <fmt/format.h>

#include "serve/chat_turns.h"

namespace hone {
namespace {

// One event of a stream: its type is said twice, and it is counted.
class EventWriter {
 public:
  std::string Write(std::string_view type, Json members) {
    Json event = Json::Of({{"type", type}, {"sequence_number", next_++}});
    for (auto& [key, value] : members.AsObject()) event.Set(key, std::move(value));
    return fmt::format("event: {}\ndata: {}\n\n", type, DumpJson(event));
  }

 private:
  int64_t next_ = 0;
};

Json ReasoningItem(const std::string& id, const std::string& text) {
  return Json::Of(
      {{"id", id},
       {"type", "reasoning"},
       {"summary", Json(Json::Array())},
       {"content", Json(Json::Array{Json::Of({{"type", "reasoning_text"}, {"text", text}})})}});
}

Json TextPart(const std::string& text) {
  return Json::Of({{"type", "output_text"},
                   {"text", text},
                   {"annotations", Json(Json::Array())},
                   {"logprobs", Json(Json::Array())}});
}

Json MessageItem(const std::string& id, std::string_view status, Json::Array content) {
  return Json::Of({{"id", id},
                   {"type", "message"},
                   {"status", status},
                   {"role", "assistant"},
                   {"content", Json(std::move(content))}});
}

Json CallItem(const std::string& id, const std::string& call_id, const ParsedCall& call) {
  return Json::Of({{"id", id},
                   {"type", "function_call"},
                   {"status", "completed"},
                   {"call_id", call_id},
                   {"name", call.name},
                   {"arguments", DumpJson(call.arguments)}});
}

class ModelResponse final : public ChatTurns {
 public:
  ModelResponse(const ResponseContext& context, ChatDraw draw, Json asked)
      : ChatTurns(context, std::move(draw)), asked_(std::move(asked)) {}

  Json Whole() const override {
    return ResponseJson(IsCut() ? "incomplete" : "completed", Items());
  }

 private:
  std::string Begin(size_t) override {
    const Json begun = ResponseJson("in_progress", {});
    std::string events = events_.Write("response.created", Json::Of({{"response", begun}}));
    events += events_.Write("response.in_progress", Json::Of({{"response", begun}}));
    return events;
  }

  std::string Continue(size_t, const TurnDelta& delta, size_t first, const SampleResult&) override {
    std::string events;
    if (!delta.reasoning.empty()) {
      if (reasoning_index_ < 0) events += Open(&reasoning_index_, ReasoningItem(Id("rs"), ""));
      events += events_.Write("response.reasoning_text.delta",
                              Part(reasoning_index_, Id("rs"), {{"delta", delta.reasoning}}));
    }
    if (!delta.content.empty()) {
      if (message_index_ < 0) events += OpenMessage();
      events += events_.Write("response.output_text.delta",
                              Part(message_index_, Id("msg"),
                                   {{"delta", delta.content}, {"logprobs", Json(Json::Array())}}));
    }
    for (size_t i = 0; i < delta.calls.size(); ++i) events += TellCall(delta.calls[i], first + i);
    return events;
  }

  std::string End() override {
    std::string events;
    const TurnDelta& told = choices()[0].turn.told();
    if (reasoning_index_ >= 0) {
      const Json item = ReasoningItem(Id("rs"), told.reasoning);
      events += events_.Write("response.reasoning_text.done",
                              Part(reasoning_index_, Id("rs"), {{"text", told.reasoning}}));
      events += events_.Write("response.output_item.done",
                              Json::Of({{"output_index", reasoning_index_}, {"item", item}}));
    }
    if (message_index_ < 0 && told.calls.empty()) events += OpenMessage();  // it said nothing
    if (message_index_ >= 0) {
      events += events_.Write("response.output_text.done",
                              Part(message_index_, Id("msg"),
                                   {{"text", told.content}, {"logprobs", Json(Json::Array())}}));
      events += events_.Write("response.content_part.done",
                              Part(message_index_, Id("msg"), {{"part", TextPart(told.content)}}));
      events += events_.Write("response.output_item.done",
                              Json::Of({{"output_index", message_index_}, {"item", Message()}}));
    }
    for (Json& item : calls_) {
      events += events_.Write("response.output_item.done", std::move(item));
    }
    const char* type = IsCut() ? "response.incomplete" : "response.completed";
    return events + events_.Write(type, Json::Of({{"response", Whole()}}));
  }

  std::string Open(int64_t* index, Json item) {
    *index = opened_++;
    order_.push_back(index == &message_index_ ? 'm' : 'r');
    return events_.Write("response.output_item.added",
                         Json::Of({{"output_index", *index}, {"item", std::move(item)}}));
  }
  std::string OpenMessage() {
    std::string events = Open(&message_index_, MessageItem(Id("msg"), "in_progress", {}));
    events += events_.Write("response.content_part.added",
                            Part(message_index_, Id("msg"), {{"part", TextPart("")}}));
    return events;
  }
  // A call is told whole.
  std::string TellCall(const ParsedCall& call, size_t number) {
    const std::string id = Id(fmt::format("fc{}", number));
    const int64_t index = opened_++;
    order_.push_back('c');
    const Json whole = CallItem(id, choices()[0].call_ids[number], call);
    Json begun = whole;
    begun.Set("status", "in_progress");
    begun.Set("arguments", "");
    const std::string arguments = whole.Find("arguments")->AsString();
    const auto part = [&](const char* key) {
      return Json::Of({{"item_id", id}, {"output_index", index}, {key, arguments}});
    };
    calls_.push_back(Json::Of({{"output_index", index}, {"item", whole}}));
    std::string events =
        events_.Write("response.output_item.added",
                      Json::Of({{"output_index", index}, {"item", std::move(begun)}}));
    events += events_.Write("response.function_call_arguments.delta", part("delta"));
    events += events_.Write("response.function_call_arguments.done", part("arguments"));
    return events;
  }

  static Json Part(int64_t index, const std::string& id, Json::Object members) {
    Json part = Json::Of({{"item_id", id}, {"output_index", index}, {"content_index", 0}});
    for (auto& [key, value] : members) part.Set(key, std::move(value));
    return part;
  }

  std::string Id(std::string_view kind) const {
    return fmt::format("{}_{}", kind, context().head.id.substr(context().head.id.find('_') + 1));
  }
  bool IsCut() const {
    return !choices()[0].drawn.stopped && choices()[0].turn.told().calls.empty();
  }
  Json Message() const {
    return MessageItem(Id("msg"), IsCut() ? "incomplete" : "completed",
                       {TextPart(choices()[0].turn.told().content)});
  }

  // In the order in which a stream tells of them: thoughts, what is said, calls.
  Json::Array Items() const {
    const TurnDelta& told = choices()[0].turn.told();
    Json::Array items;
    if (!told.reasoning.empty()) items.push_back(ReasoningItem(Id("rs"), told.reasoning));
    const auto add_calls = [&] {
      for (size_t i = 0; i < told.calls.size(); ++i) {
        items.push_back(
            CallItem(Id(fmt::format("fc{}", i)), choices()[0].call_ids[i], told.calls[i]));
      }
    };
    const bool says = !told.content.empty() || told.calls.empty();
    // A stream may have told of calls before it told of words.
    const bool calls_first = order_.find('c') < order_.find('m') && order_.find('m') != order_.npos;
    if (calls_first) add_calls();
    if (says) items.push_back(Message());
    if (!calls_first) add_calls();
    return items;
  }

  Json Asked(std::string_view key, Json usual) const {
    const Json* value = asked_.Find(key);
    return value == nullptr || value->is_null() ? std::move(usual) : *value;
  }

  Json ResponseJson(std::string_view status, Json::Array items) const {
    const bool cut = status == "incomplete";
    const bool over = status != "in_progress";
    Json text = Asked("text", Json(Json::Object{}));
    if (text.Find("format") == nullptr) text.Set("format", Json::Of({{"type", "text"}}));
    Json usage;
    if (over) {
      usage =
          Json::Of({{"input_tokens", ChatTurns::usage().prompt},
                    {"input_tokens_details", Json::Of({{"cached_tokens", 0}})},
                    {"output_tokens", ChatTurns::usage().completion},
                    {"output_tokens_details", Json::Of({{"reasoning_tokens", 0}})},
                    {"total_tokens", ChatTurns::usage().prompt + ChatTurns::usage().completion}});
    }
    return Json::Of(
        {{"id", context().head.id},
         {"object", "response"},
         {"created_at", context().head.created},
         {"status", status},
         {"background", false},
         {"error", Json()},
         {"incomplete_details", cut ? Json::Of({{"reason", "max_output_tokens"}}) : Json()},
         {"instructions", Asked("instructions", Json())},
         {"max_output_tokens", Asked("max_output_tokens", Json())},
         {"metadata", Asked("metadata", Json(Json::Object{}))},
         {"model", context().head.model},
         {"output", Json(std::move(items))},
         {"parallel_tool_calls", true},
         {"previous_response_id", Json()},
         {"reasoning", Json::Of({{"effort", Json()}, {"summary", Json()}})},
         {"store", false},
         {"temperature", Asked("temperature", 1.0)},
         {"text", std::move(text)},
         {"tool_choice", Asked("tool_choice", "auto")},
         {"tools", Asked("tools", Json(Json::Array()))},
         {"top_p", Asked("top_p", 1.0)},
         {"truncation", "disabled"},
         {"usage", std::move(usage)},
         {"user", Asked("user", Json())}});
  }

  const Json asked_;
  EventWriter events_;
  int64_t opened_ = 0;  // items that a stream has told of
  int64_t reasoning_index_ = -1, message_index_ = -1;
  std::string order_;  // of items: r, m, c
  Json::Array calls_;  // told, with their places
};

}  // namespace

Result<std::unique_ptr<Response>> NewModelResponse(const ResponseContext& context,
                                                   ServedChat request, Json asked) {
  HONE_ASSIGN_OR_RETURN(ChatDraw draw, DrawOf(context, std::move(request)));
  return std::unique_ptr<Response>(
      std::make_unique<ModelResponse>(context, std::move(draw), std::move(asked)));
}

}  // namespace hone
