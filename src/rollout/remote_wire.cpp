#include "rollout/remote_wire.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

constexpr size_t kShownBytes = 200;                // of an answer that cannot be read
constexpr double kBan = -100;                      // the bias that means never
constexpr double kRoundedUp = 1e-3;                // a log-prob above 0 by less is one of 0
constexpr std::string_view kOurWeights = "hone-";  // and so many digits of their SHA-256
constexpr size_t kWeightsShown = 12;

// What another attempt may mend.
Error Passing(std::string message) { return Error(ErrorCode::kUnavailable, std::move(message)); }
Error Wrong(std::string message) { return Error(ErrorCode::kInvalidArgument, std::move(message)); }

Json Bans(const std::vector<TokenId>& forbidden) {
  Json bans = Json::Object();
  for (const TokenId token : forbidden) bans.Set(std::to_string(token), kBan);
  return bans;
}

// A seed of its own for every turn of a trajectory: 53 bits survive every JSON.
int64_t SeedOf(const RemoteTurn& turn) {
  Rng rng = turn.request.rng.Split("remote").Split(turn.prompt.size());
  return static_cast<int64_t>(rng.NextU64() >> 11);
}

Json CompletionsBody(const RemoteManner& manner, const RemoteTurn& turn) {
  const Sampling& sampling = turn.request.sampling;
  Json body = Json::Of({{"model", manner.model},
                        {"prompt", Json::ArrayOf(turn.prompt)},
                        {"max_tokens", turn.most},
                        // All of them: servers have defaults of their own, such as a model's
                        // generation_config.json.
                        {"temperature", static_cast<double>(sampling.temperature)},
                        {"top_p", static_cast<double>(sampling.top_p)},
                        {"top_k", int64_t{sampling.top_k}},
                        {"min_p", static_cast<double>(sampling.min_p)},
                        {"repetition_penalty", 1.0},
                        {"presence_penalty", 0.0},
                        {"frequency_penalty", 0.0},
                        {"logprobs", 0},
                        {"return_token_ids", true},
                        {"stop", Json::ArrayOf(manner.stops)},
                        {"stop_token_ids", Json::ArrayOf(turn.request.stop_tokens)},
                        {"ignore_eos", true},
                        {"include_stop_str_in_output", true},
                        {"skip_special_tokens", false},
                        {"seed", SeedOf(turn)}});
  if (sampling.forbidden_set != 0) body.Set("logit_bias", Bans(manner.forbidden));
  return body;
}

// Without ignore_eos: SGLang would pass over stop_token_ids as well.
Json SglangBody(const RemoteManner& manner, const RemoteTurn& turn) {
  const Sampling& sampling = turn.request.sampling;
  Json how = Json::Of({{"temperature", static_cast<double>(sampling.temperature)},
                       {"top_p", static_cast<double>(sampling.top_p)},
                       {"top_k", sampling.top_k == 0 ? int64_t{-1} : int64_t{sampling.top_k}},
                       {"min_p", static_cast<double>(sampling.min_p)},
                       {"max_new_tokens", turn.most},
                       {"stop", Json::ArrayOf(manner.stops)},
                       {"repetition_penalty", 1.0},
                       {"presence_penalty", 0.0},
                       {"frequency_penalty", 0.0},
                       {"stop_token_ids", Json::ArrayOf(turn.request.stop_tokens)},
                       {"no_stop_trim", true},
                       {"skip_special_tokens", false},
                       {"sampling_seed", SeedOf(turn)}});
  if (sampling.forbidden_set != 0) how.Set("logit_bias", Bans(manner.forbidden));
  return Json::Of({{"input_ids", Json::ArrayOf(turn.prompt)},
                   {"sampling_params", std::move(how)},
                   {"return_logprob", true}});
}

// What both kinds of answers come down to.
struct Drawn {
  Json::Array tokens, logprobs;
  std::string finish;
};

const Json* In(const Json* object, std::string_view key) {
  const Json* value = object != nullptr && object->is_object() ? object->Find(key) : nullptr;
  return value == nullptr || value->is_null() ? nullptr : value;
}
const Json::Array* ListIn(const Json* object, std::string_view key) {
  const Json* value = In(object, key);
  return value != nullptr && value->is_array() ? &value->AsArray() : nullptr;
}
std::string TextIn(const Json* object, std::string_view key) {
  const Json* value = In(object, key);
  return value != nullptr && value->is_string() ? value->AsString() : "";
}

Result<Drawn> ReadCompletion(const Json& answer) {
  const Json::Array* choices = ListIn(&answer, "choices");
  if (choices == nullptr || choices->empty()) return Passing("the answer has no choices");
  const Json& choice = choices->front();
  const Json::Array* tokens = ListIn(&choice, "token_ids");
  if (tokens == nullptr) {
    return Wrong(
        "the answer has no token ids (choices[0].token_ids): what is trained on are tokens, and "
        "text is never made into them again; use vLLM 0.10.2 or newer, hone serve, or SGLang with "
        "policy.api = \"sglang\"");
  }
  const Json::Array* logprobs = ListIn(In(&choice, "logprobs"), "token_logprobs");
  if (logprobs == nullptr) {
    return Wrong(
        "the answer has no log-probs (choices[0].logprobs.token_logprobs), without which nobody "
        "knows how likely its tokens were; let the server return them (vLLM: --max-logprobs above "
        "0)");
  }
  return Drawn{*tokens, *logprobs, TextIn(&choice, "finish_reason")};
}

Result<Drawn> ReadGeneration(const Json& answer) {
  const Json::Array* tokens = ListIn(&answer, "output_ids");
  const Json* about = In(&answer, "meta_info");
  const Json::Array* entries = ListIn(about, "output_token_logprobs");
  if (tokens == nullptr || entries == nullptr) {
    return Wrong(
        "the answer has no output_ids or no meta_info.output_token_logprobs; policy.api = "
        "\"sglang\" is for SGLang's own POST /generate");
  }
  Drawn drawn{*tokens, {}, TextIn(In(about, "finish_reason"), "type")};
  for (const Json& entry : *entries) {  // [log-prob, token, text]
    const bool pair = entry.is_array() && entry.AsArray().size() >= 2;
    drawn.logprobs.push_back(pair ? entry.AsArray()[0] : Json());
  }
  return drawn;
}

Result<TokenId> ReadToken(const Json& json, const RemoteManner& manner, const Sampling& sampling) {
  const bool integer = json.is_integer();
  if (!integer || json.AsInteger() < 0 || json.AsInteger() >= manner.vocabulary) {
    return Wrong(fmt::format(
        "{} is no token of the policy's vocabulary of {}: the server has "
        "another model",
        integer ? std::to_string(json.AsInteger()) : DumpJson(json), manner.vocabulary));
  }
  const auto token = static_cast<TokenId>(json.AsInteger());
  if (sampling.forbidden_set != 0 &&
      std::binary_search(manner.forbidden.begin(), manner.forbidden.end(), token)) {
    return Wrong(
        fmt::format("the server wrote token {}, which the policy must never write "
                    "(rollout.forbid_markers): it passes over logit_bias",
                    token));
  }
  return token;
}

Result<float> ReadLogprob(const Json& json, size_t at) {
  const double logprob = json.is_number() ? json.AsDouble() : std::nan("");
  if (!std::isfinite(logprob) || logprob > kRoundedUp ||
      logprob < std::numeric_limits<float>::lowest()) {
    return Wrong(
        fmt::format("the log-prob of token {} of a turn is {}, which is none", at, DumpJson(json)));
  }
  return static_cast<float>(std::min(logprob, 0.0));
}

bool EndsTurn(const TurnRequest& request, const std::vector<TokenId>& tokens) {
  const auto& stops = request.stop_tokens;
  return std::find(stops.begin(), stops.end(), tokens.back()) != stops.end() ||
         (request.stop && request.stop(tokens));
}

// Only hone serve says which weights drew.
Result<void> CheckWeights(const Json& answer, const RemoteManner& manner) {
  const std::string drew = TextIn(&answer, "system_fingerprint");
  if (manner.pushed.empty() || !drew.starts_with(kOurWeights)) return {};
  const std::string wanted = std::string(kOurWeights) + manner.pushed.substr(0, kWeightsShown);
  if (drew.starts_with(wanted)) return {};
  return Wrong(
      fmt::format("a turn was drawn with other weights ({}) than those that were pushed ({}): the "
                  "server was started again, or somebody else pushes to it, too. Let this run "
                  "alone push to it; nothing of this step is kept, and the same command goes on "
                  "from the last checkpoint and pushes again",
                  drew, wanted));
}

}  // namespace

Json RemoteBody(const RemoteManner& manner, const RemoteTurn& turn) {
  return manner.api == RemoteApi::kSglang ? SglangBody(manner, turn)
                                          : CompletionsBody(manner, turn);
}

Result<SampleResult> ReadRemoteTurn(const RemoteManner& manner, const RemoteTurn& turn,
                                    std::string_view body) {
  const Result<Json> answer = ParseJson(body);
  if (!answer.ok()) {
    return Passing("the answer is not JSON: " + Utf8Lossy(body.substr(0, kShownBytes)));
  }
  HONE_RETURN_IF_ERROR(CheckWeights(*answer, manner));
  HONE_ASSIGN_OR_RETURN(const Drawn drawn, manner.api == RemoteApi::kSglang
                                               ? ReadGeneration(*answer)
                                               : ReadCompletion(*answer));
  if (drawn.finish != "stop" && drawn.finish != "length") {
    return Passing(fmt::format("the turn was given up (finish_reason \"{}\")", drawn.finish));
  }
  if (drawn.tokens.empty()) return Passing("the turn has no tokens");
  if (drawn.logprobs.size() != drawn.tokens.size()) {
    return Wrong(fmt::format("the answer has {} tokens and {} log-probs", drawn.tokens.size(),
                             drawn.logprobs.size()));
  }
  if (static_cast<int64_t>(drawn.tokens.size()) > turn.most) {
    return Wrong(fmt::format("the answer has {} tokens where at most {} were asked for",
                             drawn.tokens.size(), turn.most));
  }
  SampleResult result;
  for (size_t t = 0; t < drawn.tokens.size() && !result.stopped; ++t) {
    HONE_ASSIGN_OR_RETURN(const TokenId token,
                          ReadToken(drawn.tokens[t], manner, turn.request.sampling));
    HONE_ASSIGN_OR_RETURN(const float logprob, ReadLogprob(drawn.logprobs[t], t));
    result.tokens.push_back(token);
    result.logprobs.push_back(logprob);
    result.stopped = EndsTurn(turn.request, result.tokens);
  }
  return result;
}

}  // namespace hone
