// POST /v1/completions.

#include <fmt/format.h>

#include "engine/token_check.h"
#include "serve/response.h"

namespace hone {
namespace {

constexpr int64_t kUsualTokens = 16;  // as the API has it

struct PlainChoice {
  PlainTurn turn;
  size_t prompt = 0;  // index
  SampleResult drawn;
  size_t characters = 0;  // of the tokens told, for the offsets
  bool begun = false;     // the client knows of it
};

class PlainResponse final : public Response {
 public:
  struct Prompt {
    std::vector<TokenId> tokens;
    int64_t most = 0;
  };

  PlainResponse(const ResponseContext& context, PlainRequest request, std::vector<Prompt> prompts)
      : context_(context), request_(std::move(request)), prompts_(std::move(prompts)) {
    const Tokenizer* tokenizer = context_.model->tokenizer.get();
    if (!request_.ignore_eos) {
      for (const char* end : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>"}) {
        if (const auto id = tokenizer->FindAdded(end)) stop_tokens_.push_back(*id);
      }
    }
    stop_tokens_.insert(stop_tokens_.end(), request_.stop_tokens.begin(),
                        request_.stop_tokens.end());
    for (size_t p = 0; p < prompts_.size(); ++p) {
      usage_.prompt += static_cast<int64_t>(prompts_[p].tokens.size());
      for (int64_t i = 0; i < request_.n; ++i) {
        PlainTurn turn = request_.keeps_stops ? PlainTurn(tokenizer, {}, {})
                                              : PlainTurn(tokenizer, request_.stops, stop_tokens_);
        choices_.push_back({std::move(turn), p, {}});
      }
    }
  }

  const DrawOptions& settings() const override { return request_; }

  std::vector<Batcher::Turn> Turns() override {
    std::vector<Batcher::Turn> turns;
    for (size_t p = 0; p < prompts_.size(); ++p) {
      const Prompt& prompt = prompts_[p];
      // Who says a seed gets the same text for the same prompt, wherever it stands; else the same
      // prompt twice is two samples.
      const int64_t before = request_.seed ? 0 : static_cast<int64_t>(p) * request_.n;
      for (int64_t i = 0; i < request_.n; ++i) {
        TurnRequest turn;
        turn.max_new = prompt.most;
        turn.sampling = request_.sampling;
        turn.rng = ChoiceStream(context_.seed, before + i);
        turn.sampling.forbidden_set = request_.banned.empty() ? 0 : 1;
        turn.stop_tokens = stop_tokens_;
        turn.stop = StopAtText(context_.model->tokenizer.get(), request_.stops);
        turn.likeliest = request_.top_logprobs;
        turn.supports = false;
        turns.push_back({prompt.tokens, std::move(turn)});
      }
    }
    return turns;
  }

  Result<std::string> Tell(const BatchTicket::News& news) override {
    PlainChoice& choice = choices_[news.turn];
    AppendDrawn(news.fresh, &choice.drawn);
    usage_.completion += static_cast<int64_t>(news.fresh.tokens.size());
    std::string text = choice.turn.Feed(news.fresh.tokens);
    if (news.ended) text += choice.turn.Finish();
    const bool wordy = request_.logprobs || request_.return_token_ids;
    if (!request_.stream || (text.empty() && !(wordy && !news.fresh.tokens.empty())))
      return std::string();
    return Chunk(Part(news.turn, text, news.fresh, Json()));
  }

  Result<std::string> Finish() override {
    std::string events;
    if (!request_.stream) return events;
    for (size_t i = 0; i < choices_.size(); ++i) {
      events += Chunk(Part(i, "", {}, FinishReason(choices_[i].drawn.stopped, false)));
    }
    if (request_.include_usage) {
      Json last = ReplyJson(context_.head, "text_completion", {});
      last.Set("usage", UsageJson(usage_));
      events += EventOf(last);
    }
    return events + std::string(kStreamEnd);
  }

  Json Whole() const override {
    Json::Array choices;
    for (size_t i = 0; i < choices_.size(); ++i) {
      const PlainChoice& choice = choices_[i];
      Json part =
          Json::Of({{"index", static_cast<int64_t>(i)},
                    {"text", choice.turn.told()},
                    {"logprobs", request_.logprobs
                                     ? PlainLogprobs(*context_.model->tokenizer, choice.drawn, 0)
                                     : Json()},
                    {"finish_reason", FinishReason(choice.drawn.stopped, false)}});
      if (request_.return_token_ids) {
        part.Set("token_ids", Json::ArrayOf(choice.drawn.tokens));
        part.Set("prompt_token_ids", Json::ArrayOf(prompts_[choice.prompt].tokens));
      }
      choices.push_back(std::move(part));
    }
    Json whole = ReplyJson(context_.head, "text_completion", std::move(choices));
    whole.Set("usage", UsageJson(usage_));
    return whole;
  }

 private:
  Json Part(size_t index, const std::string& text, const SampleResult& fresh, Json reason) {
    PlainChoice& choice = choices_[index];
    Json part = Json::Of({{"index", static_cast<int64_t>(index)},
                          {"text", text},
                          {"logprobs", Json()},
                          {"finish_reason", std::move(reason)}});
    if (request_.logprobs && !fresh.tokens.empty()) {
      part.Set("logprobs", PlainLogprobs(*context_.model->tokenizer, fresh, choice.characters));
    }
    for (const TokenId token : fresh.tokens) {
      choice.characters += CharactersOf(*context_.model->tokenizer, token);
    }
    if (request_.return_token_ids) {
      part.Set("token_ids", Json::ArrayOf(fresh.tokens));
      if (!choice.begun) {
        part.Set("prompt_token_ids", Json::ArrayOf(prompts_[choice.prompt].tokens));
      }
    }
    choice.begun = true;
    return part;
  }
  std::string Chunk(Json part) const {
    Json chunk = ReplyJson(context_.head, "text_completion", {std::move(part)});
    if (request_.include_usage) chunk.Set("usage", Json());
    return EventOf(chunk);
  }

  const ResponseContext context_;
  const PlainRequest request_;
  const std::vector<Prompt> prompts_;
  std::vector<TokenId> stop_tokens_;
  std::vector<PlainChoice> choices_;
  ReplyUsage usage_;
};

// What an engine forbids is one set, which it was opened with.
Result<void> CheckBans(const std::vector<TokenId>& forbidden, const std::vector<TokenId>& banned) {
  if (banned.empty() || banned == forbidden) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("logit_bias: this server can forbid the markers of its dialect with the "
                           "ids that stand for nothing, {} tokens, and these are {} others; serve "
                           "with the dialect of who asks (--dialect)",
                           forbidden.size(), banned.size()));
}

}  // namespace

Result<std::unique_ptr<Response>> NewPlainResponse(const ResponseContext& context,
                                                   PlainRequest request) {
  HONE_RETURN_IF_ERROR(CheckBans(context.model->forbidden, request.banned));
  std::vector<PlainResponse::Prompt> prompts;
  for (const PlainRequest::Prompt& given : request.prompts) {
    PlainResponse::Prompt& prompt = prompts.emplace_back();
    HONE_RETURN_IF_ERROR(context.model->limit.Check("prompt", given.text.size()));
    prompt.tokens =
        given.tokens.empty() ? context.model->tokenizer->Encode(given.text) : given.tokens;
    if (prompt.tokens.empty()) {
      return Error(ErrorCode::kInvalidArgument, "prompt: is empty; give some text");
    }
    HONE_ASSIGN_OR_RETURN(prompt.most,
                          RoomFor(context, request, "prompt", prompt.tokens.size(), kUsualTokens));
    if (const auto known = CheckTokens(context.model->config, prompt.tokens); !known.ok()) {
      return Error(ErrorCode::kInvalidArgument, "prompt: " + known.error().message());
    }
  }
  return std::unique_ptr<Response>(
      std::make_unique<PlainResponse>(context, std::move(request), std::move(prompts)));
}

}  // namespace hone
