#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/sampling.h"
#include "serve/http_server.h"
#include "serve/turn_form.h"
#include "text/conversation.h"

// What clients of `hone serve` may ask for: the bodies of OpenAI's API, and their errors.

namespace hone {

// What both kinds of completions have. Absent: the server decides.
struct DrawOptions {
  std::string model;
  Sampling sampling;
  std::optional<int64_t> max_tokens;
  std::optional<uint64_t> seed;
  std::vector<std::string> stops;  // texts that end a completion and are left out of it
  int64_t n = 1;                   // completions of the same prompt
  bool stream = false;
  bool include_usage = false;  // a last chunk with the number of tokens
  bool logprobs = false;       // of the tokens that were drawn
  int32_t top_logprobs = 0;    // and so many of the likeliest
  bool return_token_ids = false;
};

// POST /v1/chat/completions
struct ServedChat : DrawOptions {
  Conversation conversation;  // tool messages have the names of their tools
  Json messages, tools;       // as they were sent
  bool may_call = true;       // tool_choice is not "none"
  // As vLLM has it: thinking_token_budget, after which a thought is closed. Absent, or -1: no
  // limit.
  std::optional<int64_t> thought_tokens;
  TurnForm form;  // what tool_choice and response_format ask for
  // Per message: of an assistant's calls and of a tool's result, the ids they were sent with.
  std::vector<std::vector<std::string>> call_ids;
  std::string task;  // metadata.task: conversations with the same one and the same beginning are
                     // samples of one group when they are recorded
};

// POST /v1/completions
struct PlainRequest : DrawOptions {
  struct Prompt {
    std::string text;
    std::vector<TokenId> tokens;  // where it was given so; then there is no text
  };
  std::vector<Prompt> prompts;
  // As vLLM has them: further tokens that end a completion, and whether those that end the model's
  // own turns do.
  std::vector<TokenId> stop_tokens;
  bool ignore_eos = false;
  bool keeps_stops = false;     // what ends a completion stays part of its text
  std::vector<TokenId> banned;  // by a logit_bias of -100, ascending
};

inline constexpr int64_t kMostChoices = 64;
inline constexpr int32_t kMostTopLogprobs = 20;
inline constexpr int64_t kMostTokens = int64_t{1} << 40;  // that may be asked for

// Everything the API knows is read, ignored where it changes nothing, or refused with an error that
// names it; so is what it does not know. Errors begin with the parameter: "temperature: ...".
Result<ServedChat> ReadChatRequest(std::string_view body);
Result<PlainRequest> ReadPlainRequest(std::string_view body);
// POST /v1/responses, as the chat that it asks for. `asked` is the body, for the response to
// repeat.
Result<ServedChat> ReadModelResponseRequest(std::string_view body, Json* asked);

// {"error": {"message", "type", "param", "code"}} with the status. The parameter is what the
// message begins with, where it is one.
ServerResponse ApiError(int status, std::string_view message, std::string_view code = "");
// 400, 404, 413, 429 (with Retry-After), 503 or 500 by what kind of failure it is.
ServerResponse ApiErrorOf(const Error& error);
// What a message says that is about too long a prompt: clients look for a code of its own.
inline constexpr std::string_view kContextLength = "context length";
Json ApiErrorJson(int status, std::string_view message, std::string_view code = "");

}  // namespace hone
