// POST /v1/chat/completions.

#include <algorithm>

#include <fmt/format.h>

#include "serve/response.h"

namespace hone {
namespace {

constexpr size_t kMostKept = size_t{1} << 24;  // 64 MiB of ids

struct ChatChoice {
  ServedTurn turn;
  SampleResult drawn;
  std::vector<std::string> call_ids;
  bool begun = false;  // the client knows of it
};

class ChatResponse final : public Response {
 public:
  ChatResponse(const ResponseContext& context, ServedChat request, RecordedPlace place,
               int64_t most)
      : context_(context), request_(std::move(request)), place_(std::move(place)), most_(most) {
    usage_.prompt = static_cast<int64_t>(place_.context.size());
    // The agent never speaks as somebody else, where that can be told by tokens.
    request_.sampling.forbidden_set = context_.model->engine->forbidden().empty() ? 0 : 1;
    const Dialect* dialect = context_.model->dialect.get();
    const Tokenizer* tokenizer = context_.model->tokenizer.get();
    const bool thinking = EndsInThought(*dialect, *tokenizer, place_.context);
    for (int64_t i = 0; i < request_.n; ++i) {
      choices_.push_back({ServedTurn(dialect, tokenizer, request_.stops,
                                     {.thinking = thinking, .may_call = request_.may_call}),
                          {},
                          {}});
    }
  }

  const DrawOptions& settings() const override { return request_; }

  std::vector<Batcher::Turn> Turns() override {
    const Tokenizer* tokenizer = context_.model->tokenizer.get();
    std::vector<std::string> stops = context_.model->dialect->traits().stops;
    std::vector<TokenId> stop_tokens;
    for (const std::string& stop : stops) {
      if (const auto token = tokenizer->FindAdded(stop)) stop_tokens.push_back(*token);
    }
    stops.insert(stops.end(), request_.stops.begin(), request_.stops.end());
    std::vector<Batcher::Turn> turns;
    for (int64_t i = 0; i < request_.n; ++i) {
      TurnRequest turn;
      turn.max_new = most_;
      turn.sampling = request_.sampling;
      turn.rng = ChoiceStream(context_.seed, i);
      turn.stop_tokens = stop_tokens;
      turn.stop = StopAtText(tokenizer, stops);
      turn.likeliest = request_.top_logprobs;
      turn.supports = context_.recorder != nullptr;
      turns.push_back({place_.context, std::move(turn)});
    }
    return turns;
  }

  Result<std::string> Tell(const BatchTicket::News& news) override {
    ChatChoice& choice = choices_[news.turn];
    for (const Support& support : news.fresh.supports) kept_ += support.kept.size();
    if (kept_ > kMostKept) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("top_p: what may be drawn is recorded with every token, and these "
                               "settings let more than {} tokens be drawn in all; lower "
                               "temperature, top_p or max_tokens, or set top_k",
                               kMostKept));
    }
    AppendDrawn(news.fresh, &choice.drawn);
    usage_.completion += static_cast<int64_t>(news.fresh.tokens.size());
    // What nobody reads meanwhile is read once, at the end.
    if (!request_.stream) {
      if (news.ended) Read(&choice);
      return std::string();
    }
    const size_t first = choice.call_ids.size();
    TurnDelta delta = choice.turn.Feed(news.fresh.tokens);
    if (news.ended) {
      const TurnDelta last = choice.turn.Finish(choice.drawn.stopped);
      delta.content += last.content;
      delta.reasoning += last.reasoning;
      delta.calls.insert(delta.calls.end(), last.calls.begin(), last.calls.end());
    }
    NameCalls(news.turn, first + delta.calls.size());
    const bool wordy = request_.logprobs || request_.return_token_ids;
    std::string events = choice.begun ? "" : Beginning(news.turn);
    choice.begun = true;
    if (delta.empty() && !(wordy && !news.fresh.tokens.empty())) return events;
    Json part = Part(news.turn, DeltaJson(delta, choice.call_ids, first), Json());
    if (request_.logprobs) {
      part.Set("logprobs", ChatLogprobs(*context_.model->tokenizer, news.fresh));
    }
    if (request_.return_token_ids) part.Set("token_ids", Json::ArrayOf(news.fresh.tokens));
    return events + Chunk(std::move(part));
  }

  Result<std::string> Finish() override {
    if (context_.recorder != nullptr) HONE_RETURN_IF_ERROR(Record());
    std::string events;
    if (!request_.stream) return events;
    for (size_t i = 0; i < choices_.size(); ++i) {
      events += Chunk(Part(i, Json(Json::Object{}), Reason(choices_[i])));
    }
    if (request_.include_usage) {
      Json last = ReplyJson(context_.head, "chat.completion.chunk", {});
      last.Set("usage", UsageJson(usage_));
      events += EventOf(last);
    }
    return events;
  }

  Json Whole() const override {
    Json::Array choices;
    for (size_t i = 0; i < choices_.size(); ++i) {
      const ChatChoice& choice = choices_[i];
      Json one = Json::Of(
          {{"index", static_cast<int64_t>(i)},
           {"message", MessageJson(choice.turn.told(), choice.call_ids)},
           {"logprobs",
            request_.logprobs ? ChatLogprobs(*context_.model->tokenizer, choice.drawn) : Json()},
           {"finish_reason", Reason(choice)}});
      if (request_.return_token_ids) one.Set("token_ids", Json::ArrayOf(choice.drawn.tokens));
      choices.push_back(std::move(one));
    }
    Json whole = ReplyJson(context_.head, "chat.completion", std::move(choices));
    whole.Set("usage", UsageJson(usage_));
    if (request_.return_token_ids) {
      whole.Set("prompt_token_ids", Json::ArrayOf(place_.context));
    }
    return whole;
  }

 private:
  void Read(ChatChoice* choice) {
    choice->turn.Feed(choice->drawn.tokens);
    choice->turn.Finish(choice->drawn.stopped);
    NameCalls(static_cast<size_t>(choice - choices_.data()), choice->turn.told().calls.size());
  }

  void NameCalls(size_t index, size_t count) {
    std::vector<std::string>& ids = choices_[index].call_ids;
    // The completion's own name without "chatcmpl-", which no other has.
    const std::string name = context_.head.id.substr(context_.head.id.find('-') + 1);
    while (ids.size() < count) {
      ids.push_back(fmt::format("call_{}_{}_{}", name, index, ids.size()));
    }
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
    Json chunk = ReplyJson(context_.head, "chat.completion.chunk", {std::move(part)});
    if (request_.include_usage) chunk.Set("usage", Json());
    return EventOf(chunk);
  }
  std::string Beginning(size_t index) const {
    Json part = Part(index, Json::Of({{"role", "assistant"}, {"content", ""}}), Json());
    if (!request_.return_token_ids) return Chunk(std::move(part));
    Json chunk = ReplyJson(context_.head, "chat.completion.chunk", {std::move(part)});
    chunk.Set("prompt_token_ids", Json::ArrayOf(place_.context));
    return EventOf(chunk);
  }

  static Ending EndingOf(const ChatChoice& choice) {
    const ParsedTurn& parsed = choice.turn.parsed();
    if (!choice.drawn.stopped) return Ending::kTokenLimit;
    if (parsed.answer) return Ending::kAnswered;
    if (!parsed.calls.empty()) return Ending::kInterrupted;  // nobody has answered them yet
    return parsed.faults.empty() ? Ending::kVoid : Ending::kInvalid;
  }

  Result<void> Record() {
    std::vector<RecordedTurn> turns;
    for (const ChatChoice& choice : choices_) {
      RecordedTurn& turn = turns.emplace_back();
      Node& node = turn.node;
      node.author = Author::kPolicy;
      node.tokens = choice.drawn.tokens;
      node.logprobs = choice.drawn.logprobs;
      node.entropies = choice.drawn.entropies;
      const auto& supports = choice.drawn.supports;
      const bool whole = std::all_of(supports.begin(), supports.end(),
                                     [](const Support& one) { return one.kept.empty(); });
      if (!whole) node.supports = supports;
      node.sampling = request_.sampling;
      node.policy_version = context_.model->version;
      RecordTurn(*context_.model->tokenizer, choice.turn.parsed(), &node);
      turn.ending = EndingOf(choice);
      const ParsedTurn& parsed = choice.turn.parsed();
      turn.answer = parsed.answer ? Json(*parsed.answer) : Json();
      const TurnDelta& told = choice.turn.told();
      turn.message.role = Role::kAssistant;
      turn.message.content = told.content;
      for (const ParsedCall& call : told.calls) {
        turn.message.calls.push_back({call.name, call.arguments});
      }
      turn.call_ids = choice.call_ids;
    }
    const Result<void> added =
        context_.recorder->Add(request_, context_.seed, place_, context_.head.id, std::move(turns));
    if (added.ok()) return {};
    // Whatever it is, it is not the client's fault.
    return Error(ErrorCode::kIo,
                 fmt::format("the turn could not be recorded: {}", added.error().message()));
  }

  const ResponseContext context_;
  ServedChat request_;
  const RecordedPlace place_;
  const int64_t most_;
  std::vector<ChatChoice> choices_;
  ReplyUsage usage_;
  size_t kept_ = 0;  // ids of all supports
};

}  // namespace

Result<std::unique_ptr<Response>> NewChatResponse(const ResponseContext& context,
                                                  ServedChat request) {
  RecordedPlace place;
  if (context.recorder != nullptr) {
    HONE_ASSIGN_OR_RETURN(place, context.recorder->Enter(request));
  } else {
    HONE_ASSIGN_OR_RETURN(place.fresh,
                          PromptNodes(*context.model->dialect, *context.model->tokenizer,
                                      request.conversation, context.model->limit));
    for (const Node& node : place.fresh) {
      place.context.insert(place.context.end(), node.tokens.begin(), node.tokens.end());
    }
  }
  HONE_ASSIGN_OR_RETURN(const int64_t most, RoomFor(context, request, "messages",
                                                    place.context.size(), context.max_tokens));
  HONE_RETURN_IF_ERROR(context.model->engine->CheckTokens(place.context));
  return std::unique_ptr<Response>(
      std::make_unique<ChatResponse>(context, std::move(request), std::move(place), most));
}

}  // namespace hone
