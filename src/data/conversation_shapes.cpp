#include "data/conversation_shapes.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/strings.h"
#include "text/dialect.h"

namespace hone {
namespace {

constexpr std::string_view kCallOpen = "<tool_call>", kThinkOpen = "<think>";
constexpr std::string_view kResultOpen = "<tool_response>", kResultClose = "</tool_response>";

constexpr std::array kQuestions = {"prompt", "question"};
constexpr std::array kReplies = {"completion", "response", "answer", "output"};

Error Bad(std::string_view where, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", where, problem));
}

// The first of these keys that says anything; null: none does.
template <size_t kCount>
const Json* FirstOf(const Json& row, const std::array<const char*, kCount>& keys) {
  for (const char* key : keys) {
    if (const Json* found = row.Find(key); found != nullptr && !found->is_null()) return found;
  }
  return nullptr;
}

std::optional<RowShape> ShapeOf(const Json& row) {
  const auto has = [&](const char* key) { return row.Find(key) != nullptr; };
  if (has("messages")) return RowShape::kMessages;
  if (has("conversations") || has("conversation")) return RowShape::kShareGpt;
  if (has("instruction")) return RowShape::kAlpaca;
  if (has("query") && has("answers")) return RowShape::kCalls;
  if (FirstOf(row, kQuestions) != nullptr && FirstOf(row, kReplies) != nullptr) {
    return RowShape::kCompletion;
  }
  if (has("text")) return RowShape::kText;
  return std::nullopt;
}

Json MessageOf(std::string_view role, Json content) {
  return Json::Of({{"role", role}, {"content", std::move(content)}});
}

// Columns of tables often hold JSON as text.
Result<Json> Unpacked(const Json& value, std::string_view where) {
  if (!value.is_string()) return value;
  Result<Json> parsed = ParseJson(value.AsString());
  if (!parsed.ok()) return Bad(where, "is text that is no JSON: " + parsed.error().message());
  return parsed;
}

// Python's names of types, as some data sets have them ("str, optional"), in JSON schema.
std::optional<std::string_view> SchemaType(std::string_view python) {
  python = Trim(python.substr(0, std::min(python.find(','), python.find('['))));
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"str", "string"}, {"int", "integer"}, {"float", "number"}, {"bool", "boolean"},
      {"list", "array"}, {"List", "array"},  {"dict", "object"},  {"Dict", "object"}};
  for (const auto& [name, type] : kTypes) {
    if (python == name) return type;
  }
  for (const char* type : {"string", "integer", "number", "boolean", "array", "object"}) {
    if (python == type) return type;
  }
  return std::nullopt;
}

// Parameters that are listed by name, without the schema around them (xLAM), get it.
void Enclose(Json* tool) {
  const Json* listed = tool->Find("parameters");
  if (listed == nullptr || !listed->is_object() || listed->Find("properties") != nullptr) return;
  Json properties = Json::Object();
  for (const auto& [name, value] : listed->AsObject()) {
    if (!value.is_object()) return;  // a schema of its own kind, {"type": "object"}
    Json property = Json::Object();
    for (const auto& [key, said] : value.AsObject()) {
      const auto type = key == "type" && said.is_string() ? SchemaType(said.AsString())
                                                          : std::optional<std::string_view>();
      if (key != "type") property.Set(key, said);
      if (type) property.Set("type", *type);
    }
    properties.Set(name, std::move(property));
  }
  tool->Set("parameters", Json::Of({{"type", "object"}, {"properties", std::move(properties)}}));
}

Result<Json> ToolsOf(const Json& row) {
  const Json* tools = row.Find("tools");
  if (tools == nullptr || tools->is_null()) tools = row.Find("functions");  // as they once were
  if (tools == nullptr || tools->is_null()) return Json(Json::Array());
  if (tools->is_string() && Trim(tools->AsString()).empty()) return Json(Json::Array());
  HONE_ASSIGN_OR_RETURN(Json list, Unpacked(*tools, "tools"));
  if (!list.is_array()) {
    return Bad("tools", fmt::format("wants a list of schemas, not {}", list.KindName()));
  }
  for (Json& tool : list.AsArray()) Enclose(&tool);
  return list;
}

// {"name", "arguments"} as OpenAI nests it.
Json NestedCall(const std::string& name, Json arguments) {
  return Json::Of({{"type", "function"},
                   {"function", Json::Of({{"name", name}, {"arguments", std::move(arguments)}})}});
}

Result<Json> CallsFrom(const Json& value, const std::string& where) {
  HONE_ASSIGN_OR_RETURN(const Json calls, Unpacked(value, where));
  const Json::Array list = calls.is_array() ? calls.AsArray() : Json::Array{calls};
  Json::Array nested;
  for (const Json& call : list) {
    const Json *name = call.Find("name"), *arguments = call.Find("arguments");
    if (name == nullptr || !name->is_string()) return Bad(where, "a call without a name");
    HONE_ASSIGN_OR_RETURN(Json given, arguments == nullptr ? Result<Json>(Json(Json::Object()))
                                                           : Unpacked(*arguments, where));
    nested.push_back(NestedCall(name->AsString(), std::move(given)));
  }
  return Json(std::move(nested));
}

// Takes calls and thoughts out of what an assistant wrote, where a data set has them in the text.
Result<void> Unfold(const std::string& where, Json* message) {
  const Json *content = message->Find("content"), *calls = message->Find("tool_calls");
  if (content == nullptr || !content->is_string()) return {};
  const std::string text = content->AsString();
  const bool called = calls != nullptr && calls->is_array() && !calls->AsArray().empty();
  const bool thinks = TrimLeft(text).starts_with(kThinkOpen);
  if (!thinks && (called || text.find(kCallOpen) == std::string::npos)) return {};
  static const std::unique_ptr<Dialect> hermes = NewDialect("hermes").value();
  const ParsedTurn turn = hermes->Parse(TrimLeft(text), TurnEnd::kEnded);
  if (!turn.faults.empty()) return Bad(where, turn.faults[0].message);
  if (!turn.reasoning.empty() && message->Find("reasoning_content") == nullptr) {
    message->Set("reasoning_content", turn.reasoning);
  }
  message->Set("content", turn.answer ? *turn.answer : turn.content);
  if (called || turn.calls.empty()) return {};
  Json::Array nested;
  for (const ParsedCall& call : turn.calls) nested.push_back(NestedCall(call.name, call.arguments));
  message->Set("tool_calls", Json(std::move(nested)));
  return {};
}

// One message per result that stands in the text.
std::vector<Json> ResultsFrom(std::string_view text) {
  std::vector<Json> results;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t open = rest.find(kResultOpen);
    const size_t close = rest.find(kResultClose);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) break;
    const size_t begin = open + kResultOpen.size();
    results.push_back(MessageOf("tool", Trim(rest.substr(begin, close - begin))));
    rest.remove_prefix(close + kResultClose.size());
  }
  if (results.empty()) results.push_back(MessageOf("tool", text));
  return results;
}

// A call as OpenAI's API had it before `tool_calls`.
Result<void> Modernise(const std::string& where, Json* message) {
  const Json* call = message->Find("function_call");
  if (call == nullptr || !call->is_object() || message->Find("tool_calls") != nullptr) return {};
  HONE_ASSIGN_OR_RETURN(Json calls, CallsFrom(*call, where + ".function_call"));
  message->Set("tool_calls", std::move(calls));
  return {};
}

Result<Json::Array> FromMessages(const Json& messages, std::string_view key) {
  HONE_ASSIGN_OR_RETURN(Json list, Unpacked(messages, key));
  if (!list.is_array()) {
    return Bad(key, fmt::format("wants a list of messages, not {}", list.KindName()));
  }
  Json::Array whole;
  for (size_t i = 0; i < list.AsArray().size(); ++i) {
    Json message = list.AsArray()[i];
    const std::string where = fmt::format("{}[{}]", key, i);
    const Json* role = message.Find("role");
    if (role != nullptr && *role == Json("assistant")) {
      HONE_RETURN_IF_ERROR(Modernise(where, &message));
      HONE_RETURN_IF_ERROR(Unfold(where + ".content", &message));
    }
    whole.push_back(std::move(message));
  }
  return whole;
}

std::optional<std::string_view> RoleOf(std::string_view from) {
  if (IsOneOf(from, std::array{"human", "user", "question"})) return "user";
  if (IsOneOf(from, std::array{"gpt", "assistant", "chatgpt", "model", "bot", "bing", "bard"})) {
    return "assistant";
  }
  if (IsOneOf(from, std::array{"system", "developer"})) return "system";
  if (IsOneOf(from,
              std::array{"tool", "observation", "function_response", "function", "ipython"})) {
    return "tool";
  }
  if (IsOneOf(from, std::array{"function_call", "function-call"})) return "call";
  return std::nullopt;
}

// The turns of ShareGPT, one by one.
Result<Json::Array> FromShareGpt(const Json& row) {
  const char* key = row.Find("conversations") != nullptr ? "conversations" : "conversation";
  HONE_ASSIGN_OR_RETURN(const Json turns, Unpacked(*row.Find(key), key));
  if (!turns.is_array()) {
    return Bad(key, fmt::format("wants a list of turns, not {}", turns.KindName()));
  }
  const bool messages = !turns.AsArray().empty() && turns.AsArray()[0].Find("from") == nullptr;
  if (messages) return FromMessages(turns, key);
  Json::Array whole;
  for (size_t i = 0; i < turns.AsArray().size(); ++i) {
    const Json& turn = turns.AsArray()[i];
    const std::string where = fmt::format("{}[{}]", key, i);
    const Json *from = turn.Find("from"), *value = turn.Find("value");
    if (from == nullptr || !from->is_string()) return Bad(where, "\"from\" is missing");
    if (value == nullptr || !value->is_string()) return Bad(where, "\"value\" must be a text");
    const std::optional<std::string_view> role = RoleOf(from->AsString());
    if (!role) {
      return Bad(where + ".from",
                 fmt::format("\"{}\" is nobody of whom it is known who speaks; there are human, "
                             "gpt, system, function_call and observation",
                             from->AsString()));
    }
    if (*role == "tool") {
      for (Json& result : ResultsFrom(value->AsString())) whole.push_back(std::move(result));
      continue;
    }
    Json message = MessageOf(*role == "call" ? "assistant" : *role, *value);
    if (*role == "call") {
      HONE_ASSIGN_OR_RETURN(Json calls, CallsFrom(*value, where + ".value"));
      message = MessageOf("assistant", "");
      message.Set("tool_calls", std::move(calls));
    } else if (*role == "assistant") {
      HONE_RETURN_IF_ERROR(Unfold(where + ".value", &message));
    }
    if (const Json* weight = turn.Find("weight")) message.Set("weight", *weight);
    whole.push_back(std::move(message));
  }
  return whole;
}

Result<Json::Array> FromCompletion(const Json& row) {
  const Json &prompt = *FirstOf(row, kQuestions), &reply = *FirstOf(row, kReplies);
  Json::Array whole;
  if (prompt.is_string()) {
    whole.push_back(MessageOf("user", prompt));
  } else {
    HONE_ASSIGN_OR_RETURN(whole, FromMessages(prompt, "prompt"));
    // What stands in a prompt was said before.
    for (Json& message : whole) {
      const Json* role = message.Find("role");
      if (role != nullptr && *role == Json("assistant")) message.Set("weight", 0);
    }
  }
  Json said = reply;
  if (reply.is_number()) said = DumpJson(reply);  // answers of sums
  if (said.is_string()) said = Json::Array{MessageOf("assistant", said)};
  HONE_ASSIGN_OR_RETURN(Json::Array replies, FromMessages(said, "completion"));
  std::move(replies.begin(), replies.end(), std::back_inserter(whole));
  return whole;
}

Result<Json::Array> FromAlpaca(const Json& row) {
  const auto text = [&](const char* key) -> Result<std::string> {
    const Json* value = row.Find(key);
    if (value == nullptr || value->is_null()) return std::string();
    if (!value->is_string()) return Bad(key, "must be a text");
    return value->AsString();
  };
  HONE_ASSIGN_OR_RETURN(const std::string instruction, text("instruction"));
  HONE_ASSIGN_OR_RETURN(const std::string input, text("input"));
  HONE_ASSIGN_OR_RETURN(std::string output, text("output"));
  if (row.Find("output") == nullptr) {
    HONE_ASSIGN_OR_RETURN(output, text("response"));
  }
  if (output.empty()) return Bad("output", "is missing or empty");
  Json::Array whole;
  if (const Json* history = row.Find("history"); history != nullptr && history->is_array()) {
    for (const Json& pair : history->AsArray()) {
      if (!pair.is_array() || pair.AsArray().size() != 2) {
        return Bad("history", "wants pairs of what was asked and answered");
      }
      whole.push_back(MessageOf("user", pair.AsArray()[0]));
      whole.push_back(MessageOf("assistant", pair.AsArray()[1]));
    }
  }
  whole.push_back(
      MessageOf("user", input.empty() ? instruction : fmt::format("{}\n{}", instruction, input)));
  Json reply = MessageOf("assistant", output);
  HONE_RETURN_IF_ERROR(Unfold("output", &reply));
  whole.push_back(std::move(reply));
  return whole;
}

Result<Json::Array> FromCalls(const Json& row) {
  const Json& query = *row.Find("query");
  if (!query.is_string()) return Bad("query", "must be a text");
  HONE_ASSIGN_OR_RETURN(Json calls, CallsFrom(*row.Find("answers"), "answers"));
  Json reply = MessageOf("assistant", "");
  reply.Set("tool_calls", std::move(calls));
  return Json::Array{MessageOf("user", query), std::move(reply)};
}

Result<Json::Array> FromShape(RowShape shape, const Json& row) {
  switch (shape) {
    case RowShape::kMessages: return FromMessages(*row.Find("messages"), "messages");
    case RowShape::kShareGpt: return FromShareGpt(row);
    case RowShape::kCompletion: return FromCompletion(row);
    case RowShape::kAlpaca: return FromAlpaca(row);
    case RowShape::kCalls: return FromCalls(row);
    case RowShape::kText: break;  // nobody speaks
  }
  return Json::Array();
}

std::string KeysOf(const Json& row) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : row.AsObject()) keys.push_back(key);
  return keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

std::string_view RowShapeName(RowShape shape) {
  switch (shape) {
    case RowShape::kMessages: return "messages";
    case RowShape::kShareGpt: return "sharegpt";
    case RowShape::kCompletion: return "completion";
    case RowShape::kAlpaca: return "alpaca";
    case RowShape::kCalls: return "calls";
    case RowShape::kText: return "text";
  }
  return "";
}

Result<ShapedRow> ToMessages(const Json& row) {
  if (!row.is_object()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("wants an object, not {}", row.KindName()));
  }
  const std::optional<RowShape> shape = ShapeOf(row);
  if (!shape) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("nothing in it says who said what: write \"messages\", or "
                             "\"conversations\", \"prompt\" and \"completion\", \"instruction\" "
                             "and \"output\", or plain \"text\"; its keys are {}",
                             KeysOf(row)));
  }
  if (*shape == RowShape::kText) {
    const Json& text = *row.Find("text");
    if (!text.is_string() || text.AsString().empty()) return Bad("text", "must say something");
    return ShapedRow{*shape, Json::Of({{"text", text}})};
  }
  HONE_ASSIGN_OR_RETURN(Json::Array messages, FromShape(*shape, row));
  const Json* system = row.Find("system");
  const bool has_system = !messages.empty() && messages[0].Find("role") != nullptr &&
                          *messages[0].Find("role") == Json("system");
  if (system != nullptr && system->is_string() && !system->AsString().empty() && !has_system) {
    messages.insert(messages.begin(), MessageOf("system", *system));
  }
  HONE_ASSIGN_OR_RETURN(Json tools, ToolsOf(row));
  Json whole = Json::Of({{"messages", std::move(messages)}});
  if (!tools.AsArray().empty()) whole.Set("tools", std::move(tools));
  if (const Json* thinks = row.Find("enable_thinking")) whole.Set("enable_thinking", *thinks);
  return ShapedRow{*shape, std::move(whole)};
}

}  // namespace hone
