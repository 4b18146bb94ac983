// POST /v1/chat/completions.

#include "serve/chat_turns.h"

namespace hone {
namespace {

class ChatResponse final : public ChatTurns {
 public:
  using ChatTurns::ChatTurns;

  Json Whole() const override {
    Json::Array whole_choices;
    for (size_t i = 0; i < choices().size(); ++i) {
      const ChatChoice& choice = choices()[i];
      Json one = Json::Of(
          {{"index", static_cast<int64_t>(i)},
           {"message", MessageJson(choice.turn.told(), choice.call_ids)},
           {"logprobs",
            request().logprobs ? ChatLogprobs(*context().model->tokenizer, choice.drawn) : Json()},
           {"finish_reason", Reason(choice)}});
      if (request().return_token_ids) one.Set("token_ids", Json::ArrayOf(choice.drawn.tokens));
      whole_choices.push_back(std::move(one));
    }
    Json whole = ReplyJson(context().head, "chat.completion", std::move(whole_choices));
    whole.Set("usage", UsageJson(usage()));
    if (request().return_token_ids) {
      whole.Set("prompt_token_ids", Json::ArrayOf(place().context));
    }
    return whole;
  }

 private:
  std::string Begin(size_t index) override {
    Json part = Part(index, Json::Of({{"role", "assistant"}, {"content", ""}}), Json());
    if (!request().return_token_ids) return Chunk(std::move(part));
    Json chunk = ReplyJson(context().head, "chat.completion.chunk", {std::move(part)});
    chunk.Set("prompt_token_ids", Json::ArrayOf(place().context));
    return EventOf(chunk);
  }

  std::string Continue(size_t index, const TurnDelta& delta, size_t first,
                       const SampleResult& fresh) override {
    const bool wordy = request().logprobs || request().return_token_ids;
    if (delta.empty() && !(wordy && !fresh.tokens.empty())) return "";
    Json part = Part(index, DeltaJson(delta, choices()[index].call_ids, first), Json());
    if (request().logprobs) {
      part.Set("logprobs", ChatLogprobs(*context().model->tokenizer, fresh));
    }
    if (request().return_token_ids) part.Set("token_ids", Json::ArrayOf(fresh.tokens));
    return Chunk(std::move(part));
  }

  std::string End() override {
    std::string events;
    for (size_t i = 0; i < choices().size(); ++i) {
      events += Chunk(Part(i, Json(Json::Object{}), Reason(choices()[i])));
    }
    if (request().include_usage) {
      Json last = ReplyJson(context().head, "chat.completion.chunk", {});
      last.Set("usage", UsageJson(usage()));
      events += EventOf(last);
    }
    return events + std::string(kStreamEnd);
  }

  static Json Reason(const ChatChoice& choice) {
    return FinishReason(choice.drawn.stopped, !choice.turn.told().calls.empty());
  }

  Json Part(size_t index, Json delta, Json reason) const {
    return Json::Of({{"index", static_cast<int64_t>(index)},
                     {"delta", std::move(delta)},
                     {"logprobs", Json()},
                     {"finish_reason", std::move(reason)}});
  }
  std::string Chunk(Json part) const {
    Json chunk = ReplyJson(context().head, "chat.completion.chunk", {std::move(part)});
    if (request().include_usage) chunk.Set("usage", Json());
    return EventOf(chunk);
  }
};

}  // namespace

Result<std::unique_ptr<Response>> NewChatResponse(const ResponseContext& context,
                                                  ServedChat request) {
  HONE_ASSIGN_OR_RETURN(ChatDraw draw, DrawOf(context, std::move(request)));
  return std::unique_ptr<Response>(std::make_unique<ChatResponse>(context, std::move(draw)));
}

}  // namespace hone
