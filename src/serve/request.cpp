#include "serve/request.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/nearest.h"

namespace hone {
namespace {

Error Bad(std::string_view parameter, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", parameter, problem));
}

// The members of a request, each asked for by name; null counts as absent. What nobody asked for is
// found by Unknown.
class Body {
 public:
  explicit Body(const Json& json) : json_(json) {}

  const Json* Find(const std::string& key) {
    known_.insert(key);
    const Json* value = json_.Find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void Ignore(std::initializer_list<const char*> keys) {
    for (const char* key : keys) known_.insert(key);
  }

  Result<void> Read(const std::string& key, bool* value) {
    const Json* json = Find(key);
    if (json == nullptr) return {};
    if (!json->is_bool()) return Bad(key, "wants true or false");
    *value = json->AsBool();
    return {};
  }
  template <typename Integer>
  Result<void> Read(const std::string& key, int64_t least, int64_t most, Integer* value) {
    const Json* json = Find(key);
    if (json == nullptr) return {};
    if (!json->is_integer() || json->AsInteger() < least || json->AsInteger() > most) {
      return Bad(key, fmt::format("wants an integer from {} to {}", least, most));
    }
    *value = static_cast<typename Unwrapped<Integer>::Type>(json->AsInteger());
    return {};
  }
  Result<void> Read(const std::string& key, double least, double most, float* value) {
    const Json* json = Find(key);
    if (json == nullptr) return {};
    if (!json->is_number() || !(json->AsDouble() >= least && json->AsDouble() <= most)) {
      return Bad(key, fmt::format("wants a number from {} to {}", least, most));
    }
    *value = static_cast<float>(json->AsDouble());
    return {};
  }
  // Refuses a parameter whose value is not one of those that change nothing.
  Result<void> Unsupported(const std::string& key, std::initializer_list<Json> neutral,
                           std::string_view instead) {
    const Json* json = Find(key);
    if (json == nullptr || std::find(neutral.begin(), neutral.end(), *json) != neutral.end()) {
      return {};
    }
    return Bad(key, fmt::format("is not supported here{}", instead));
  }
  Result<void> Unknown() const {
    const std::vector<std::string> names(known_.begin(), known_.end());
    for (const auto& member : json_.AsObject()) {
      if (known_.contains(member.first)) continue;
      return Bad(member.first,
                 fmt::format("there is no such parameter{}", DidYouMean(member.first, names)));
    }
    return {};
  }

 private:
  template <typename T>
  struct Unwrapped {
    using Type = T;
  };
  template <typename T>
  struct Unwrapped<std::optional<T>> {
    using Type = T;
  };

  const Json& json_;
  std::set<std::string> known_;
};

Result<Json> ReadObject(std::string_view text) {
  Result<Json> json = ParseJson(text);
  if (!json.ok()) {
    return Error(ErrorCode::kParse,
                 fmt::format("the body is not JSON: {}", json.error().message()));
  }
  if (!json->is_object()) return Error(ErrorCode::kParse, "the body is not a JSON object");
  return json;
}

Result<void> ReadStops(Body* body, std::vector<std::string>* stops) {
  const Json* json = body->Find("stop");
  if (json == nullptr) return {};
  Json::Array list;
  if (json->is_array()) {
    list = json->AsArray();
  } else {
    list.push_back(*json);
  }
  if (list.size() > 16) return Bad("stop", "at most 16 texts");
  for (const Json& stop : list) {
    if (!stop.is_string() || stop.AsString().empty()) {
      return Bad("stop", "wants a text that is not empty, or a list of such");
    }
    stops->push_back(stop.AsString());
  }
  return {};
}

Result<void> ReadSeed(Body* body, std::optional<uint64_t>* seed) {
  const Json* json = body->Find("seed");
  if (json == nullptr) return {};
  if (json->is_integer()) {
    *seed = static_cast<uint64_t>(json->AsInteger());  // negative ones are seeds, too
  } else if (const std::optional<uint64_t> large = json->AsUint64()) {
    *seed = large;
  } else {
    return Bad("seed", "wants an integer of 64 bits");
  }
  return {};
}

// What both bodies share.
Result<void> ReadSettings(Body* body, DrawOptions* settings) {
  const Json* model = body->Find("model");
  if (model == nullptr || !model->is_string()) return Bad("model", "is missing: the model's name");
  settings->model = model->AsString();
  HONE_RETURN_IF_ERROR(body->Read("temperature", 0.0, 100.0, &settings->sampling.temperature));
  HONE_RETURN_IF_ERROR(body->Read("top_p", 0.0, 1.0, &settings->sampling.top_p));
  HONE_RETURN_IF_ERROR(body->Read("min_p", 0.0, 0.9999, &settings->sampling.min_p));
  HONE_RETURN_IF_ERROR(body->Read("top_k", -1, 1 << 24, &settings->sampling.top_k));
  settings->sampling.top_k = std::max(settings->sampling.top_k, 0);  // -1: all, as some say it
  const float temperature = settings->sampling.temperature;
  if (temperature != 0 && temperature < 1e-4f)
    return Bad("temperature", "wants 0 or at least 0.0001");
  if (!(settings->sampling.top_p > 0)) return Bad("top_p", "wants a number above 0");
  HONE_RETURN_IF_ERROR(body->Read("max_tokens", 1, kMostTokens, &settings->max_tokens));
  HONE_RETURN_IF_ERROR(body->Read("n", 1, kMostChoices, &settings->n));
  HONE_RETURN_IF_ERROR(body->Read("stream", &settings->stream));
  if (const Json* options = body->Find("stream_options")) {
    if (!options->is_object()) return Bad("stream_options", "wants an object");
    if (!settings->stream) return Bad("stream_options", "is only for stream: true");
    Body of_stream(*options);
    HONE_RETURN_IF_ERROR(of_stream.Read("include_usage", &settings->include_usage));
    of_stream.Ignore({"include_obfuscation"});  // nothing is padded here
    if (const Result<void> known = of_stream.Unknown(); !known.ok()) {
      return known.error().In("stream_options");
    }
  }
  HONE_RETURN_IF_ERROR(body->Read("return_token_ids", &settings->return_token_ids));
  HONE_RETURN_IF_ERROR(ReadStops(body, &settings->stops));
  HONE_RETURN_IF_ERROR(ReadSeed(body, &settings->seed));
  for (const char* penalty : {"frequency_penalty", "presence_penalty"}) {
    HONE_RETURN_IF_ERROR(body->Unsupported(penalty, {0, 0.0},
                                           ": turns are drawn from the model's own distribution"));
  }
  HONE_RETURN_IF_ERROR(body->Unsupported("repetition_penalty", {1, 1.0}, ""));
  body->Ignore({"user", "service_tier", "store", "safety_identifier", "prompt_cache_key"});
  return {};
}

Result<void> ReadToolChoice(Body* body, ServedChat* request) {
  HONE_RETURN_IF_ERROR(body->Unsupported("functions", {}, "; use tools"));
  HONE_RETURN_IF_ERROR(body->Unsupported("function_call", {}, "; use tool_choice"));
  const Json* choice = body->Find("tool_choice");
  if (choice == nullptr || *choice == Json("auto")) return {};
  if (*choice == Json("none")) {
    request->tools = Json(Json::Array());
    request->may_call = false;
    return {};
  }
  const Json::Array& tools = request->tools.AsArray();
  std::string name;  // empty: any of them
  if (choice->is_object() && choice->Find("type") != nullptr &&
      *choice->Find("type") == Json("function")) {
    const Json* function = choice->Find("function");
    const Json* named = function == nullptr ? nullptr : function->Find("name");
    if (named == nullptr || !named->is_string()) {
      return Bad("tool_choice",
                 "wants the function's name: {\"type\": \"function\", "
                 "\"function\": {\"name\": ...}}");
    }
    name = named->AsString();
  } else if (*choice != Json("required")) {
    return Bad("tool_choice",
               "wants \"auto\", \"none\", \"required\", or one function by its name");
  }
  for (const Json& tool : tools) {
    if (name.empty() || tool.Find("function")->Find("name")->AsString() == name) {
      request->form.calls.push_back(tool);
    }
  }
  if (request->form.calls.empty()) {
    return Bad("tool_choice", name.empty() ? std::string("there is nothing to call: tools has none")
                                           : fmt::format("there is no tool \"{}\" in tools", name));
  }
  request->form.must_call = true;
  return {};
}

Result<void> ReadResponseFormat(Body* body, ServedChat* request) {
  const Json* format = body->Find("response_format");
  if (format == nullptr) return {};
  const Json* type = format->is_object() ? format->Find("type") : nullptr;
  if (type == nullptr || !type->is_string()) {
    return Bad("response_format",
               "wants {\"type\": \"text\", \"json_object\" or "
               "\"json_schema\"}");
  }
  if (*type == Json("text")) return {};
  if (*type == Json("json_object")) {
    request->form.answer = Json();
  } else if (*type == Json("json_schema")) {
    const Json* described = format->Find("json_schema");
    const Json* schema = described == nullptr ? nullptr : described->Find("schema");
    if (schema == nullptr || !schema->is_object()) {
      return Bad("response_format",
                 "wants the schema: {\"type\": \"json_schema\", "
                 "\"json_schema\": {\"name\": ..., \"schema\": {...}}}");
    }
    request->form.answer = *schema;
  } else {
    return Bad("response_format", fmt::format("{} is not supported here; text, json_object and "
                                              "json_schema are",
                                              type->AsString()));
  }
  // Beside an answer of that form, the tools that were offered may be called.
  if (request->form.must_call) {
    request->form.answer = std::nullopt;
  } else if (request->may_call) {
    request->form.calls = request->tools.AsArray();
  }
  if (request->form.calls.empty() && !request->form.must_call) request->may_call = false;
  return {};
}

// The ids of calls and results; results get the names of the tools that were called, which this API
// only says by id.
Result<void> ReadCallIds(ServedChat* request) {
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < request->conversation.messages.size(); ++i) {
    const Json& json = request->messages.AsArray()[i];
    Message& message = request->conversation.messages[i];
    std::vector<std::string>& ids = request->call_ids.emplace_back();
    if (message.role == Role::kAssistant && !message.calls.empty()) {
      for (size_t c = 0; c < message.calls.size(); ++c) {
        const Json* id = json.Find("tool_calls")->AsArray()[c].Find("id");
        ids.push_back(id != nullptr && id->is_string() ? id->AsString() : "");
        if (!ids.back().empty()) names[ids.back()] = message.calls[c].name;
        // Some clients send them as text; the dialects want what the text says, where it says
        // something.
        Json& arguments = message.calls[c].arguments;
        if (!arguments.is_string()) continue;
        Result<Json> read = ParseJson(arguments.AsString());
        if (!read.ok() || !read->is_object()) {
          return Bad(fmt::format("messages[{}].tool_calls[{}].function.arguments", i, c),
                     "is not the text of a JSON object");
        }
        arguments = *std::move(read);
      }
    }
    const Json* id = json.Find("tool_call_id");
    if (message.role != Role::kTool || id == nullptr) continue;
    if (!id->is_string() || !names.contains(id->AsString())) {
      return Bad(fmt::format("messages[{}].tool_call_id", i), "no call before it has this id");
    }
    ids.push_back(id->AsString());
    if (message.name.empty()) message.name = names[id->AsString()];
  }
  return {};
}

Result<TokenId> ReadTokenId(std::string_view key, const Json& json) {
  if (!json.is_integer() || json.AsInteger() < 0 || json.AsInteger() > INT32_MAX) {
    return Bad(key, fmt::format("{} is no token id", DumpJson(json)));
  }
  return static_cast<TokenId>(json.AsInteger());
}

Result<void> ReadPrompt(const Json& json, std::vector<PlainRequest::Prompt>* prompts) {
  const auto is_integer = [](const Json& one) { return one.is_integer(); };
  if (json.is_string()) {
    prompts->push_back({json.AsString(), {}});
    return {};
  }
  if (!json.is_array() || json.AsArray().empty()) {
    return Bad("prompt", "wants text, a list of token ids, or a list of those");
  }
  const Json::Array& list = json.AsArray();
  if (std::all_of(list.begin(), list.end(), is_integer)) {
    PlainRequest::Prompt& prompt = prompts->emplace_back();
    for (const Json& token : list) {
      HONE_ASSIGN_OR_RETURN(const TokenId id, ReadTokenId("prompt", token));
      prompt.tokens.push_back(id);
    }
    return {};
  }
  if (list.size() > static_cast<size_t>(kMostChoices)) return Bad("prompt", "too many prompts");
  for (const Json& one : list) {
    if (one.is_array() && !std::all_of(one.AsArray().begin(), one.AsArray().end(), is_integer)) {
      return Bad("prompt", "wants text, a list of token ids, or a list of those");
    }
    HONE_RETURN_IF_ERROR(ReadPrompt(one, prompts));
  }
  return {};
}

// How a completion ends, as vLLM lets clients say it.
Result<void> ReadEnds(Body* body, PlainRequest* request) {
  if (const Json* stops = body->Find("stop_token_ids")) {
    if (!stops->is_array() || stops->AsArray().size() > 64)
      return Bad("stop_token_ids", "wants a list of at most 64 token ids");
    for (const Json& stop : stops->AsArray()) {
      HONE_ASSIGN_OR_RETURN(const TokenId id, ReadTokenId("stop_token_ids", stop));
      request->stop_tokens.push_back(id);
    }
  }
  HONE_RETURN_IF_ERROR(body->Read("ignore_eos", &request->ignore_eos));
  HONE_RETURN_IF_ERROR(body->Read("include_stop_str_in_output", &request->keeps_stops));
  return body->Unsupported("skip_special_tokens", {false}, ": the text has every token");
}

// A bias of -100 forbids a token, as OpenAI has it. Others would change the model's own log-probs.
Result<void> ReadBans(Body* body, PlainRequest* request) {
  const Json* biases = body->Find("logit_bias");
  if (biases == nullptr) return {};
  if (!biases->is_object()) return Bad("logit_bias", "wants an object");
  for (const auto& [name, bias] : biases->AsObject()) {
    const Result<Json> id = ParseJson(name);
    HONE_ASSIGN_OR_RETURN(const TokenId token, ReadTokenId("logit_bias", id.ok() ? *id : name));
    if (!bias.is_number() || bias.AsDouble() > -100) {
      return Bad("logit_bias", "is supported for tokens that are never drawn alone (-100)");
    }
    request->banned.push_back(token);
  }
  std::sort(request->banned.begin(), request->banned.end());
  return {};
}

std::string_view TypeOf(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

// "max_tokens" of "max_tokens: wants ...": what stands before the first colon, if it is one word.
Json ParameterOf(std::string_view message) {
  const size_t end = message.find_first_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]");
  if (end == 0 || end == std::string_view::npos || !message.substr(end).starts_with(": ")) {
    return {};
  }
  return message.substr(0, end);
}

Result<void> ReadOfferedTools(Body* body, ServedChat* request) {
  request->tools = Json(Json::Array());
  if (const Json* tools = body->Find("tools")) {
    if (!tools->is_array()) return Bad("tools", "wants a list of tools");
    request->tools = *tools;
    for (size_t i = 0; i < tools->AsArray().size(); ++i) {
      const Json& tool = tools->AsArray()[i];
      const Json* type = tool.Find("type");
      const Json* function = tool.Find("function");
      if (type == nullptr || *type != Json("function") || function == nullptr ||
          function->Find("name") == nullptr || !function->Find("name")->is_string()) {
        return Bad(fmt::format("tools[{}]", i),
                   "wants {\"type\": \"function\", \"function\": {\"name\": ...}}");
      }
    }
  }
  return {};
}

// What the API has and this server has not.
Result<void> RefuseUnsupported(Body* body) {
  HONE_RETURN_IF_ERROR(body->Unsupported("logit_bias", {Json(Json::Object())}, ""));
  HONE_RETURN_IF_ERROR(body->Unsupported("modalities", {Json(Json::Array{"text"})}, ""));
  for (const char* key : {"audio", "prediction", "web_search_options"}) {
    HONE_RETURN_IF_ERROR(body->Unsupported(key, {}, ""));
  }
  HONE_RETURN_IF_ERROR(body->Unsupported("parallel_tool_calls", {true},
                                         ": a turn may call as often as its dialect has it"));
  HONE_RETURN_IF_ERROR(body->Unsupported("reasoning_effort", {}, "; use thinking_token_budget"));
  HONE_RETURN_IF_ERROR(body->Unsupported("verbosity", {"medium"}, ""));
  return {};
}

}  // namespace

Result<ServedChat> ReadChatRequest(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ReadObject(text));
  Body body(json);
  ServedChat request;
  HONE_RETURN_IF_ERROR(ReadSettings(&body, &request));
  HONE_RETURN_IF_ERROR(body.Read("max_completion_tokens", 1, kMostTokens, &request.max_tokens));
  HONE_RETURN_IF_ERROR(
      body.Read("thinking_token_budget", -1, kMostTokens, &request.thought_tokens));
  HONE_RETURN_IF_ERROR(body.Read("logprobs", &request.logprobs));
  HONE_RETURN_IF_ERROR(body.Read("top_logprobs", 0, kMostTopLogprobs, &request.top_logprobs));
  if (request.top_logprobs > 0 && !request.logprobs) {
    return Bad("top_logprobs", "is only for logprobs: true");
  }
  const Json* messages = body.Find("messages");
  if (messages == nullptr || !messages->is_array() || messages->AsArray().empty()) {
    return Bad("messages", "is missing: a list of at least one message");
  }
  request.messages = *messages;
  HONE_RETURN_IF_ERROR(ReadOfferedTools(&body, &request));
  HONE_RETURN_IF_ERROR(ReadToolChoice(&body, &request));
  HONE_RETURN_IF_ERROR(ReadResponseFormat(&body, &request));
  HONE_RETURN_IF_ERROR(RefuseUnsupported(&body));
  if (const Json* metadata = body.Find("metadata")) {
    const Json* task = metadata->Find("task");
    if (task != nullptr && !task->is_string()) return Bad("metadata.task", "wants text");
    if (task != nullptr) request.task = task->AsString();
  }
  Json conversation = Json::Of({{"messages", request.messages}, {"tools", request.tools}});
  if (const Json* arguments = body.Find("chat_template_kwargs")) {
    conversation.Set("chat_template_kwargs", *arguments);
  }
  HONE_RETURN_IF_ERROR(body.Unknown());
  HONE_ASSIGN_OR_RETURN(request.conversation, ConversationFromJson(conversation));
  HONE_RETURN_IF_ERROR(ReadCallIds(&request));
  if (request.conversation.messages.back().role == Role::kAssistant) {
    return Bad("messages", "the last one is the assistant's; it cannot be asked to go on with it");
  }
  request.conversation.add_generation_prompt = true;
  return request;
}

Result<PlainRequest> ReadPlainRequest(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ReadObject(text));
  Body body(json);
  PlainRequest request;
  HONE_RETURN_IF_ERROR(ReadSettings(&body, &request));
  std::optional<int64_t> logprobs;
  HONE_RETURN_IF_ERROR(body.Read("logprobs", 0, kMostTopLogprobs, &logprobs));
  request.logprobs = logprobs.has_value();
  request.top_logprobs = static_cast<int32_t>(logprobs.value_or(0));
  const Json* prompt = body.Find("prompt");
  if (prompt == nullptr) return Bad("prompt", "is missing: the text to go on with");
  HONE_RETURN_IF_ERROR(ReadPrompt(*prompt, &request.prompts));
  if (static_cast<int64_t>(request.prompts.size()) * request.n > kMostChoices) {
    return Bad("n", fmt::format("at most {} completions at a time", kMostChoices));
  }
  HONE_RETURN_IF_ERROR(ReadEnds(&body, &request));
  HONE_RETURN_IF_ERROR(ReadBans(&body, &request));
  HONE_RETURN_IF_ERROR(body.Unsupported("echo", {false}, ""));
  HONE_RETURN_IF_ERROR(body.Unsupported("suffix", {}, ""));
  HONE_RETURN_IF_ERROR(body.Unsupported("best_of", {1, request.n}, "; use n"));
  body.Ignore({"metadata"});
  HONE_RETURN_IF_ERROR(body.Unknown());
  return request;
}

Json ApiErrorJson(int status, std::string_view message, std::string_view code) {
  return Json::Of({{"error", Json::Of({{"message", message},
                                       {"type", TypeOf(status)},
                                       {"param", ParameterOf(message)},
                                       {"code", code.empty() ? Json() : Json(code)}})}});
}

ServerResponse ApiError(int status, std::string_view message, std::string_view code) {
  ServerResponse answer{
      status, "application/json", DumpJson(ApiErrorJson(status, message, code)) + "\n", {}};
  if (status == 429 || status == 503) answer.headers.emplace_back("Retry-After", "1");
  if (status == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

ServerResponse ApiErrorOf(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kParse:
    case ErrorCode::kUnsupported: {
      const bool too_long = error.message().find(kContextLength) != std::string::npos;
      return ApiError(400, error.message(), too_long ? "context_length_exceeded" : "");
    }
    case ErrorCode::kNotFound: return ApiError(404, error.message());
    case ErrorCode::kFull: return ApiError(429, error.message(), "rate_limit_exceeded");
    case ErrorCode::kUnavailable:
    case ErrorCode::kStopped: return ApiError(503, error.message());
    default: return ApiError(500, error.message());
  }
}

}  // namespace hone
