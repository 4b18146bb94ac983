#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/sampler.h"
#include "serve/turn_deltas.h"
#include "text/tokenizer.h"

// The JSON of completions as OpenAI's API has it.

namespace hone {

// What all chunks and the whole answer begin with.
struct ReplyHead {
  std::string id;
  int64_t created = 0;  // seconds since 1970
  std::string model;
  std::string fingerprint;  // of the weights
};

struct ReplyUsage {
  int64_t prompt = 0, completion = 0;  // tokens
};

std::string_view FinishReason(bool stopped, bool calls);

Json UsageJson(const ReplyUsage& usage);
// An answer without its choices; `object` is "chat.completion", "text_completion.chunk", ...
Json ReplyJson(const ReplyHead& head, std::string_view object, Json::Array choices);

// {"role": "assistant", "content", "tool_calls", ...} of a turn, or of a part of one. `ids` are
// those of all its calls, `first` is the number of the first that is in it.
Json MessageJson(const TurnDelta& told, const std::vector<std::string>& ids);
Json DeltaJson(const TurnDelta& delta, const std::vector<std::string>& ids, size_t first);

// {"content": [{"token", "logprob", "bytes", "top_logprobs"}, ...]}
Json ChatLogprobs(const Tokenizer& tokenizer, const SampleResult& drawn);
// How many characters begin in a token.
size_t CharactersOf(const Tokenizer& tokenizer, TokenId token);
// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}; `offset` is that of the first token
// in the text, in characters.
Json PlainLogprobs(const Tokenizer& tokenizer, const SampleResult& drawn, size_t offset);

// One server-sent event.
std::string EventOf(const Json& json);

}  // namespace hone
