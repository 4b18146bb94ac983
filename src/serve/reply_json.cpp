#include "serve/reply_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {
namespace {

std::string_view BytesOf(const Tokenizer& tokenizer, TokenId token) {
  return tokenizer.IsToken(token) ? tokenizer.TokenBytes(token) : std::string_view();
}

// A token as this API spells it: parts of characters by their bytes, so that they can be told
// apart.
std::string Spelled(std::string_view bytes) {
  if (IsUtf8(bytes)) return std::string(bytes);
  std::string text = "bytes:";
  for (const char byte : bytes) {
    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

Json TokenJson(const Tokenizer& tokenizer, TokenId token, float logprob) {
  const std::string_view bytes = BytesOf(tokenizer, token);
  Json::Array numbers;
  for (const char byte : bytes) numbers.emplace_back(int{static_cast<unsigned char>(byte)});
  return Json::Of({{"token", Utf8Lossy(bytes)},
                   {"logprob", static_cast<double>(logprob)},
                   {"bytes", std::move(numbers)}});
}

Json CallJson(const ParsedCall& call, const std::string& id) {
  return Json::Of(
      {{"id", id},
       {"type", "function"},
       {"function", Json::Of({{"name", call.name}, {"arguments", DumpJson(call.arguments)}})}});
}

}  // namespace

std::string_view FinishReason(bool stopped, bool calls) {
  if (calls) return "tool_calls";
  return stopped ? "stop" : "length";
}

Json UsageJson(const ReplyUsage& usage) {
  return Json::Of({{"prompt_tokens", usage.prompt},
                   {"completion_tokens", usage.completion},
                   {"total_tokens", usage.prompt + usage.completion}});
}

Json ReplyJson(const ReplyHead& head, std::string_view object, Json::Array choices) {
  return Json::Of({{"id", head.id},
                   {"object", object},
                   {"created", head.created},
                   {"model", head.model},
                   {"system_fingerprint", head.fingerprint},
                   {"choices", std::move(choices)}});
}

Json MessageJson(const TurnDelta& told, const std::vector<std::string>& ids) {
  Json message = Json::Of({{"role", "assistant"}});
  message.Set("content", told.content.empty() && !told.calls.empty() ? Json() : Json(told.content));
  message.Set("refusal", Json());
  if (!told.reasoning.empty()) message.Set("reasoning_content", told.reasoning);
  if (told.calls.empty()) return message;
  Json::Array calls;
  for (size_t i = 0; i < told.calls.size(); ++i) calls.push_back(CallJson(told.calls[i], ids[i]));
  message.Set("tool_calls", std::move(calls));
  return message;
}

Json DeltaJson(const TurnDelta& delta, const std::vector<std::string>& ids, size_t first) {
  Json json(Json::Object{});
  if (!delta.content.empty()) json.Set("content", delta.content);
  if (!delta.reasoning.empty()) json.Set("reasoning_content", delta.reasoning);
  if (delta.calls.empty()) return json;
  Json::Array calls;
  for (size_t i = 0; i < delta.calls.size(); ++i) {
    Json call = CallJson(delta.calls[i], ids[first + i]);
    call.Set("index", static_cast<int64_t>(first + i));
    calls.push_back(std::move(call));
  }
  json.Set("tool_calls", std::move(calls));
  return json;
}

Json ChatLogprobs(const Tokenizer& tokenizer, const SampleResult& drawn) {
  Json::Array entries;
  for (size_t t = 0; t < drawn.tokens.size(); ++t) {
    Json entry = TokenJson(tokenizer, drawn.tokens[t], drawn.logprobs[t]);
    Json::Array top;
    if (t < drawn.likeliest.size()) {
      for (const LikelyToken& likely : drawn.likeliest[t]) {
        top.push_back(TokenJson(tokenizer, likely.token, likely.logprob));
      }
    }
    entry.Set("top_logprobs", std::move(top));
    entries.push_back(std::move(entry));
  }
  return Json::Of({{"content", std::move(entries)}, {"refusal", Json()}});
}

size_t CharactersOf(const Tokenizer& tokenizer, TokenId token) {
  const std::string_view bytes = BytesOf(tokenizer, token);
  // Bytes of the form 10xxxxxx go on with a character.
  return static_cast<size_t>(std::count_if(bytes.begin(), bytes.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }));
}

Json PlainLogprobs(const Tokenizer& tokenizer, const SampleResult& drawn, size_t offset) {
  Json::Array tokens, logprobs, tops, offsets;
  for (size_t t = 0; t < drawn.tokens.size(); ++t) {
    const std::string_view bytes = BytesOf(tokenizer, drawn.tokens[t]);
    tokens.emplace_back(Spelled(bytes));
    logprobs.emplace_back(static_cast<double>(drawn.logprobs[t]));
    offsets.emplace_back(static_cast<int64_t>(offset));
    offset += CharactersOf(tokenizer, drawn.tokens[t]);
    if (t >= drawn.likeliest.size()) continue;
    Json top(Json::Object{});
    for (const LikelyToken& likely : drawn.likeliest[t]) {
      // The likeliest comes first; another token may be spelled alike.
      const std::string spelled = Spelled(BytesOf(tokenizer, likely.token));
      if (top.Find(spelled) == nullptr) top.Set(spelled, static_cast<double>(likely.logprob));
    }
    tops.push_back(std::move(top));
  }
  return Json::Of({{"tokens", std::move(tokens)},
                   {"token_logprobs", std::move(logprobs)},
                   {"top_logprobs", drawn.likeliest.empty() ? Json() : Json(std::move(tops))},
                   {"text_offset", std::move(offsets)}});
}

std::string EventOf(const Json& json) { return "data: " + DumpJson(json) + "\n\n"; }

}  // namespace hone
