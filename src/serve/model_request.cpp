// The body of POST /v1/responses: OpenAI's second way to ask for a turn, read as a chat.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/nearest.h"
#include "serve/request.h"

namespace hone {
namespace {

Error Refused(std::string_view parameter, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", parameter, problem));
}

const Json* Given(const Json& object, std::string_view key) {
  const Json* value = object.is_object() ? object.Find(key) : nullptr;
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool IsType(const Json& item, std::string_view type) {
  const Json* said = Given(item, "type");
  return said != nullptr && *said == Json(type);
}

// Text, or a list of parts that are text.
Result<std::string> TextOfContent(const Json* content, const std::string& where) {
  if (content == nullptr) return Refused(where, "is missing");
  if (content->is_string()) return content->AsString();
  if (!content->is_array()) return Refused(where, "wants text or a list of parts");
  std::string text;
  for (const Json& part : content->AsArray()) {
    const Json* words = Given(part, "text");
    const bool readable =
        IsType(part, "input_text") || IsType(part, "output_text") || IsType(part, "text");
    if (!readable || words == nullptr || !words->is_string()) {
      return Refused(where, "only parts of text can be read here (input_text, output_text)");
    }
    text += words->AsString();
  }
  return text;
}

// Items become messages: calls join the assistant's message before them.
class ItemReader {
 public:
  Result<void> Add(const Json& item, const std::string& where) {
    if (IsType(item, "function_call")) return AddCall(item, where);
    if (IsType(item, "function_call_output")) return AddOutput(item, where);
    if (IsType(item, "reasoning")) return {};  // thoughts of earlier turns are not read again
    const Json* role = Given(item, "role");
    if (role == nullptr || (Given(item, "type") != nullptr && !IsType(item, "message"))) {
      return Refused(where, "wants a message, a function_call or a function_call_output");
    }
    HONE_ASSIGN_OR_RETURN(std::string text,
                          TextOfContent(Given(item, "content"), where + ".content"));
    const bool above = *role == Json("developer") || *role == Json("system");
    if (above) return AddSystem(std::move(text));
    messages_.push_back(Json::Of({{"role", *role}, {"content", std::move(text)}}));
    return {};
  }

  // Instructions stand first, whoever says them.
  Result<void> AddSystem(std::string text) {
    if (!messages_.empty() && *messages_.back().Find("role") == Json("system")) {
      messages_.back().Set("content", messages_.back().Find("content")->AsString() + "\n\n" + text);
      return {};
    }
    messages_.push_back(Json::Of({{"role", "system"}, {"content", std::move(text)}}));
    return {};
  }

  Json::Array Take() { return std::move(messages_); }

 private:
  Result<void> AddCall(const Json& item, const std::string& where) {
    const Json *name = Given(item, "name"), *id = Given(item, "call_id"),
               *arguments = Given(item, "arguments");
    if (name == nullptr || !name->is_string() || id == nullptr || !id->is_string() ||
        arguments == nullptr || !arguments->is_string()) {
      return Refused(where, "wants call_id, name and arguments, all of them text");
    }
    const bool joins = !messages_.empty() && *messages_.back().Find("role") == Json("assistant");
    if (!joins) messages_.push_back(Json::Of({{"role", "assistant"}, {"content", ""}}));
    Json& message = messages_.back();
    Json::Array calls;
    if (const Json* before = message.Find("tool_calls")) calls = before->AsArray();
    calls.push_back(
        Json::Of({{"id", *id},
                  {"type", "function"},
                  {"function", Json::Of({{"name", *name}, {"arguments", *arguments}})}}));
    message.Set("tool_calls", std::move(calls));
    return {};
  }

  Result<void> AddOutput(const Json& item, const std::string& where) {
    const Json* id = Given(item, "call_id");
    if (id == nullptr || !id->is_string()) return Refused(where, "wants the call_id of a call");
    HONE_ASSIGN_OR_RETURN(std::string text,
                          TextOfContent(Given(item, "output"), where + ".output"));
    messages_.push_back(
        Json::Of({{"role", "tool"}, {"tool_call_id", *id}, {"content", std::move(text)}}));
    return {};
  }

  Json::Array messages_;
};

Result<Json> MessagesIn(const Json& body) {
  ItemReader reader;
  if (const Json* instructions = Given(body, "instructions")) {
    if (!instructions->is_string()) return Refused("instructions", "wants text");
    HONE_RETURN_IF_ERROR(reader.AddSystem(instructions->AsString()));
  }
  const Json* input = Given(body, "input");
  if (input == nullptr) return Refused("input", "is missing: text, or a list of items");
  if (input->is_string()) {
    HONE_RETURN_IF_ERROR(reader.Add(Json::Of({{"role", "user"}, {"content", *input}}), "input"));
  } else if (input->is_array()) {
    for (size_t i = 0; i < input->AsArray().size(); ++i) {
      HONE_RETURN_IF_ERROR(reader.Add(input->AsArray()[i], fmt::format("input[{}]", i)));
    }
  } else {
    return Refused("input", "wants text, or a list of items");
  }
  return Json(reader.Take());
}

Result<Json> ToolsIn(const Json& tools) {
  if (!tools.is_array()) return Refused("tools", "wants a list of tools");
  Json::Array offered;
  for (size_t i = 0; i < tools.AsArray().size(); ++i) {
    const Json& tool = tools.AsArray()[i];
    const std::string where = fmt::format("tools[{}]", i);
    if (!IsType(tool, "function")) {
      return Refused(where,
                     "only functions are offered here: {\"type\": \"function\", \"name\": "
                     "..., \"parameters\": {...}}");
    }
    Json function(Json::Object{});
    for (const auto& [key, value] : tool.AsObject()) {
      if (key != "type") function.Set(key, value);
    }
    offered.push_back(Json::Of({{"type", "function"}, {"function", std::move(function)}}));
  }
  return Json(std::move(offered));
}

Result<void> TakeText(const Json& text, Json* chat) {
  if (!text.is_object()) return Refused("text", "wants an object");
  if (const Json* verbosity = Given(text, "verbosity")) chat->Set("verbosity", *verbosity);
  const Json* format = Given(text, "format");
  if (format == nullptr) return {};
  if (!IsType(*format, "json_schema")) {
    chat->Set("response_format", *format);
    return {};
  }
  Json described(Json::Object{});
  for (const auto& [key, value] : format->AsObject()) {
    if (key != "type") described.Set(key, value);
  }
  chat->Set("response_format",
            Json::Of({{"type", "json_schema"}, {"json_schema", std::move(described)}}));
  return {};
}

// What the API has and this server has not; what changes nothing is passed over.
Result<void> RefuseTheRest(const Json& body) {
  constexpr std::string_view kKeepsNothing =
      "this server keeps no responses; send the whole conversation as input";
  for (const char* key : {"previous_response_id", "conversation"}) {
    if (Given(body, key) != nullptr) return Refused(key, kKeepsNothing);
  }
  if (Given(body, "prompt") != nullptr)
    return Refused("prompt", "there are no stored prompts here");
  if (const Json* later = Given(body, "background"); later != nullptr && *later != Json(false)) {
    return Refused("background", kKeepsNothing);
  }
  if (const Json* cut = Given(body, "truncation"); cut != nullptr && *cut != Json("disabled")) {
    return Refused("truncation", "nothing is left out of a conversation here; shorten it yourself");
  }
  if (const Json* reasoning = Given(body, "reasoning")) {
    if (!reasoning->is_object()) return Refused("reasoning", "wants an object");
    for (const auto& [key, value] : reasoning->AsObject()) {
      if (value.is_null()) continue;
      return Refused("reasoning",
                     "is not supported here; use chat_template_kwargs of "
                     "/v1/chat/completions");
    }
  }
  if (const Json* more = Given(body, "include")) {
    if (!more->is_array()) return Refused("include", "wants a list");
    for (const Json& one : more->AsArray()) {
      if (one == Json("reasoning.encrypted_content")) continue;
      return Refused("include",
                     "is not supported here; log-probs are those of "
                     "/v1/chat/completions");
    }
  }
  if (Given(body, "max_tool_calls") != nullptr) {
    return Refused("max_tool_calls", "calls are carried out by the client, not here");
  }
  return {};
}

constexpr std::array kPassedOn = {
    "model",           "temperature",         "top_p", "stream",
    "metadata",        "parallel_tool_calls", "user",  "seed",
    "top_logprobs",    "service_tier",        "store", "safety_identifier",
    "prompt_cache_key"};
constexpr std::array kRead = {"input",       "instructions",      "tools",
                              "tool_choice", "max_output_tokens", "text"};
constexpr std::array kRefused = {
    "previous_response_id", "conversation", "prompt",  "background",
    "truncation",           "reasoning",    "include", "max_tool_calls",
    "stream_options"};

Result<void> KnowAll(const Json& body) {
  std::vector<std::string> known(kPassedOn.begin(), kPassedOn.end());
  known.insert(known.end(), kRead.begin(), kRead.end());
  known.insert(known.end(), kRefused.begin(), kRefused.end());
  for (const auto& [key, value] : body.AsObject()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return Refused(key, fmt::format("there is no such parameter{}", DidYouMean(key, known)));
  }
  return {};
}

Result<Json> ChatBodyOf(const Json& body) {
  HONE_RETURN_IF_ERROR(KnowAll(body));
  HONE_RETURN_IF_ERROR(RefuseTheRest(body));
  Json chat(Json::Object{});
  for (const char* key : kPassedOn) {
    if (const Json* value = Given(body, key)) chat.Set(key, *value);
  }
  HONE_ASSIGN_OR_RETURN(Json messages, MessagesIn(body));
  chat.Set("messages", std::move(messages));
  if (const Json* most = Given(body, "max_output_tokens")) {
    chat.Set("max_completion_tokens", *most);
  }
  if (const Json* tools = Given(body, "tools")) {
    HONE_ASSIGN_OR_RETURN(Json offered, ToolsIn(*tools));
    chat.Set("tools", std::move(offered));
  }
  if (const Json* choice = Given(body, "tool_choice")) {
    const Json* name = Given(*choice, "name");
    chat.Set("tool_choice",
             name == nullptr || !IsType(*choice, "function")
                 ? *choice
                 : Json::Of({{"type", "function"}, {"function", Json::Of({{"name", *name}})}}));
  }
  if (const Json* text = Given(body, "text")) HONE_RETURN_IF_ERROR(TakeText(*text, &chat));
  return chat;
}

// A chat's words for a parameter, as this API has them.
Error InItsOwnWords(const Error& error) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames{
      {{"messages", "input"},
       {"response_format", "text.format"},
       {"max_completion_tokens", "max_output_tokens"}}};
  for (const auto& [chat, own] : kNames) {
    const std::string& message = error.message();
    if (!message.starts_with(chat)) continue;
    return Error(error.code(), std::string(own) + message.substr(chat.size()));
  }
  return error;
}

}  // namespace

Result<ServedChat> ReadModelResponseRequest(std::string_view text, Json* asked) {
  Result<Json> body = ParseJson(text);
  if (!body.ok()) {
    return Error(ErrorCode::kParse, "the body is not JSON: " + body.error().message());
  }
  if (!body->is_object()) return Error(ErrorCode::kParse, "the body is not a JSON object");
  HONE_ASSIGN_OR_RETURN(const Json chat, ChatBodyOf(*body));
  Result<ServedChat> request = ReadChatRequest(DumpJson(chat));
  if (!request.ok()) return InItsOwnWords(request.error());
  *asked = *std::move(body);
  return request;
}

}  // namespace hone
