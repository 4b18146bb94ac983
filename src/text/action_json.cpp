#include "text/action_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/strings.h"
#include "text/chat_template.h"
#include "text/turn_text.h"

namespace hone {
namespace {

constexpr std::string_view kOpen = "<action>";
constexpr std::string_view kClose = "</action>";

constexpr std::string_view kInstruction =
    "Every reply ends with exactly one action. To call a tool write\n"
    "<action>{\"type\":\"call\",\"when\":true,\"which\":<tool name>,\"how\":<arguments "
    "object>}</action>\n"
    "and to answer write\n"
    "<action>{\"type\":\"answer\",\"when\":false,\"content\":<text>}</action>";

// Turn in Jinja.
constexpr std::string_view kActionTurn = R"jinja(
  {%- if message.calls|length > 1 -%}
    {{- raise_exception('action-json has one call per turn') -}}
  {%- endif -%}
  {%- set thought = (message.reasoning or '') + (message.content if message.calls else '') -%}
  {%- if action.open in thought -%}
    {{- raise_exception('a thought that holds ' + action.open + ' would be read as one') -}}
  {%- endif -%}
  {{- (thought + '\n' if thought else '') + action.open -}}
  {%- if message.calls -%}
    {%- set call = message.calls[0] -%}
    {%- if call.arguments is string -%}
      {{- raise_exception('give the arguments of a call as an object, not as text') -}}
    {%- endif -%}
    {{- '{"type":"call","when":true,"which":' + call.name|tojson -}}
    {{- ',"how":' + compact_json(call.arguments) + '}' -}}
  {%- else -%}
    {{- '{"type":"answer","when":false,"content":' + message.content|tojson + '}' -}}
  {%- endif -%}
  {{- action.close -}})jinja";

// Why the object is not an action of these fields, or nothing.
std::optional<std::string> FieldProblem(const Json& action,
                                        const std::vector<std::string>& fields) {
  for (const auto& [key, value] : action.AsObject()) {
    if (std::find(fields.begin(), fields.end(), key) == fields.end()) {
      return fmt::format("unknown field \"{}\"{}", key, DidYouMean(key, fields));
    }
  }
  for (const std::string& field : fields) {
    if (action.Find(field) == nullptr) return fmt::format("the field \"{}\" is missing", field);
  }
  return std::nullopt;
}

class ActionJson final : public Dialect {
 public:
  ActionJson(Frame frame, std::string name) : frame_(std::move(frame)) {
    traits_.name = std::move(name);
    traits_.stops = {std::string(kClose)};
    const bool chat = !frame_.policy_close.empty();
    if (chat) {
      traits_.stops.insert(traits_.stops.end(), {"<|im_end|>", "<|endoftext|>"});
      traits_.markers = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    } else {
      traits_.markers = {"<|endoftext|>", "<system>", "</system>", "<user>", "</user>"};
      traits_.stops.emplace_back("<|endoftext|>");
    }
    traits_.specials = traits_.markers.size();
    traits_.markers.insert(traits_.markers.end(), {std::string(kOpen), std::string(kClose),
                                                   "<tool_response>", "</tool_response>"});
    traits_.marks.ends.assign(traits_.stops.begin() + 1, traits_.stops.end());
    traits_.marks.call_opens = {std::string(kOpen)};
    traits_.marks.call_closes = {std::string(kClose)};
    traits_.marks.whole_only = true;
    frame_.reserved = std::make_shared<ReservedTokens>(ReservedBy(traits_));
    spelling_.opening = [this](const std::string* system, const Json::Array& tools,
                               PieceBuilder* out) {
      SpellSystem(frame_, system, tools, kInstruction, out);
    };
    spelling_.turn = [](const Conversation& conversation, size_t index, PieceBuilder* out) {
      return Turn(conversation.messages[index], out);
    };
  }

  const DialectTraits& traits() const override { return traits_; }

  Result<std::vector<Piece>> Render(const Conversation& conversation) const override {
    return RenderInFrame(frame_, spelling_, conversation);
  }

  Result<Piece> Continue(std::string_view turn, const Conversation& next) const override {
    return ContinueInFrame(frame_, spelling_, turn, next);
  }

  ParsedTurn Parse(std::string_view turn, TurnEnd end) const override {
    ParsedTurn parsed;
    const std::vector<std::string> end_markers(traits_.stops.begin() + 1, traits_.stops.end());
    const TurnText body = WithoutEndMarkers(turn, end_markers, end);
    const size_t open = body.text.find(kOpen);
    if (open == std::string_view::npos) {
      AddTrailingFault(turn, body, &parsed);
      AddCutFault(body, end, {kOpen, "<|im_end|>", "<|endoftext|>"}, &parsed);
      parsed.content = Readable(Trim(body.text));
      if (parsed.faults.empty()) {
        parsed.faults.push_back(
            {FaultKind::kNoAction, "the turn holds no <action>", {0, turn.size()}});
      }
      return parsed;
    }
    const std::string_view thought = Trim(body.text.substr(0, open));
    parsed.reasoning = Readable(thought);
    if (!thought.empty()) parsed.thoughts.push_back(RangeIn(turn, thought));
    const EnclosedJson json = ReadEnclosedJson(body.text, open + kOpen.size(), kClose);
    if (!json.value) {
      parsed.faults.push_back(
          {json.fault, fmt::format("<action>: {}", json.problem), {open, json.end}});
    } else {
      ReadAction(*json.value, {open, json.end}, &parsed);
    }
    if (json.value && !Trim(body.text.substr(json.end)).empty()) {
      parsed.faults.push_back(
          {FaultKind::kUnexpectedText, "text after the action", {json.end, body.text.size()}});
      parsed.answer.reset();
    }
    AddTrailingFault(turn, body, &parsed);
    // The closing marker is itself an end, so a turn that has it was not cut off.
    if (!json.value) AddCutFault(body, end, {}, &parsed);
    return parsed;
  }

  std::string ChatTemplate() const override {
    TemplateSpelling spelling;
    spelling.definitions = JinjaSet("action", Json::Of({{"open", kOpen}, {"close", kClose}}));
    spelling.definitions += CompactJsonMacro();
    spelling.opening = SystemTemplate(kInstruction);
    spelling.turn = kActionTurn;
    return ChatTemplateInFrame(frame_, spelling);
  }

 private:
  static Result<void> Turn(const Message& message, PieceBuilder* out) {
    if (message.calls.size() > 1) {
      return Error(ErrorCode::kUnsupported,
                   "action-json has one call per turn; put the others into turns of their own");
    }
    const bool calls = !message.calls.empty();
    std::string thought = message.reasoning.value_or("");
    if (calls) thought += message.content;
    if (thought.find(kOpen) != std::string::npos) {
      return Error(ErrorCode::kUnsupported, "a thought that holds <action> would be read as one");
    }
    if (!thought.empty()) out->Content(thought).Marker("\n");
    Json action;
    if (calls) {
      const MessageCall& call = message.calls[0];
      Json how = call.arguments;
      if (how.is_string()) {
        HONE_ASSIGN_OR_RETURN(how, ParseJson(how.AsString()));
      }
      if (!how.is_object()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("the arguments of the call of {} are not an object", call.name));
      }
      action = Json::Of({{"type", "call"}, {"when", true}, {"which", call.name}, {"how", how}});
    } else {
      action = Json::Of({{"type", "answer"}, {"when", false}, {"content", message.content}});
    }
    out->Marker(kOpen).Content(DumpJson(action)).Marker(kClose);
    return {};
  }

  static void ReadAction(const Json& action, ByteRange range, ParsedTurn* parsed) {
    auto bad = [&](std::string_view problem) {
      parsed->faults.push_back({FaultKind::kBadCall, fmt::format("<action>: {}", problem), range});
    };
    if (!action.is_object()) return bad("an object is wanted");
    const Json* type = action.Find("type");
    const bool calls = type != nullptr && *type == Json("call");
    if (!calls && (type == nullptr || *type != Json("answer"))) {
      return bad("\"type\" must be \"call\" or \"answer\"");
    }
    const std::vector<std::string> fields =
        calls ? std::vector<std::string>{"type", "when", "which", "how"}
              : std::vector<std::string>{"type", "when", "content"};
    if (const auto problem = FieldProblem(action, fields)) return bad(*problem);
    if (*action.Find("when") != Json(calls)) {
      return bad(calls ? "a call has \"when\": true" : "an answer has \"when\": false");
    }
    if (!calls) {
      const Json& content = *action.Find("content");
      if (!content.is_string()) return bad("\"content\" must be text");
      parsed->answer = content.AsString();
      return;
    }
    const Json &which = *action.Find("which"), &how = *action.Find("how");
    if (!which.is_string() || which.AsString().empty()) return bad("\"which\" must name a tool");
    if (!how.is_object()) return bad("\"how\" must be an object");
    parsed->calls.push_back({which.AsString(), how, range});
  }

  Frame frame_;
  Spelling spelling_;
  DialectTraits traits_;
};

}  // namespace

std::unique_ptr<Dialect> NewActionJson(Frame frame, std::string name) {
  return std::make_unique<ActionJson>(std::move(frame), std::move(name));
}

}  // namespace hone
