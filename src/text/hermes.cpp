// The `hermes` dialect: ChatML with calls as JSON inside <tool_call> tags, as the Qwen models and
// the Hermes line write it. Variants follow Qwen's own chat templates:
//
//   qwen2.5         the template of Qwen2 and Qwen2.5
//   qwen3           the template of Qwen3, which takes the reasoning of earlier turns out when the
//   user
//                   speaks again; such a conversation cannot be continued by appending, and
//                   Continue says so
//   qwen3-training  the same with every turn's reasoning kept, so that it only ever appends

#include "text/hermes.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "text/chat_template.h"
#include "text/frame.h"
#include "text/turn_text.h"

namespace hone {
namespace {

constexpr std::string_view kCallOpen = "<tool_call>";
constexpr std::string_view kCallClose = "</tool_call>";
constexpr std::string_view kNoThought = "<think>\n\n</think>\n\n";

constexpr std::string_view kToolsBefore =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are "
    "provided "
    "with function signatures within <tools></tools> XML tags:\n<tools>";
constexpr std::string_view kToolsAfter =
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments "
    "within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, "
    "\"arguments\": <args-json-object>}\n</tool_call>";
constexpr std::string_view kDefaultSystem =
    "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";

// Opening in Jinja. Qwen3 has no default system message: there it is empty.
constexpr std::string_view kOpeningTemplate = R"jinja(
  {%- set before = hermes.default_system if system is none else system -%}
  {%- if system is not none or hermes.default_system or tools -%}
    {{- frame.system_open + before -}}
    {%- if tools -%}
      {{- ('\n\n' if system is not none or hermes.default_system else '') + hermes.tools_before -}}
      {%- for tool in tools -%}
        {{- '\n' + tool|tojson -}}
      {%- endfor -%}
      {{- hermes.tools_after -}}
    {%- endif -%}
    {{- frame.system_close -}}
  {%- endif -%})jinja";

// SpellTurn in Jinja, behind the content.
constexpr std::string_view kCallsTemplate = R"jinja(
{%- macro spelled(calls, has_content) -%}
  {%- for call in calls -%}
    {{- ('\n' if has_content or not loop.first else '') + hermes.call_open -}}
    {{- '\n{"name": "' + call.name + '", "arguments": ' -}}
    {%- if call.arguments is string and not hermes.quotes_text -%}
      {{- call.arguments -}}
    {%- else -%}
      {{- call.arguments|tojson -}}
    {%- endif -%}
    {{- '}\n' + hermes.call_close -}}
  {%- endfor -%}
{%- endmacro -%})jinja";

// LastQuestion in Jinja.
constexpr std::string_view kLastQuestionTemplate = R"jinja(
{%- set last_question = namespace(index=read.messages|length - 1) -%}
{%- for message in read.messages -%}
  {%- if message.role == 'user' and not (message.content.startswith('<tool_response>')
                                         and message.content.endswith('</tool_response>')) -%}
    {%- set last_question.index = loop.index0 -%}
  {%- endif -%}
{%- endfor -%})jinja";

// TakeApart, ShowsThought and Turn in Jinja. Whether the prompt or the turn holds an empty block of
// thought makes no difference to the text.
constexpr std::string_view kThoughtfulTurnTemplate = R"jinja(
  {%- set taken = namespace(reasoning=message.reasoning or '', content=message.content) -%}
  {%- if message.reasoning is none and hermes.think_close in message.content -%}
    {%- set parts = message.content.split(hermes.think_close) -%}
    {%- set begun = parts[0].rstrip('\n').split(hermes.think_open) -%}
    {%- set taken.reasoning = begun[-1].lstrip('\n') -%}
    {%- set taken.content = parts[-1].lstrip('\n') -%}
  {%- endif -%}
  {%- set in_progress = index > last_question.index -%}
  {%- set is_last = index + 1 == read.messages|length -%}
  {%- if hermes.keeps_thoughts or in_progress and (is_last or taken.reasoning) -%}
    {{- hermes.think_open + '\n' + taken.reasoning.strip('\n') + '\n' + hermes.think_close -}}
    {{- '\n\n' + taken.content.lstrip('\n') -}}
  {%- else -%}
    {{- taken.content -}}
  {%- endif -%}
  {{- spelled(message.calls, taken.content != '') -}})jinja";

constexpr std::string_view kPlainTurnTemplate = R"jinja(
  {{- message.content + spelled(message.calls, message.content != '') -}})jinja";

constexpr std::string_view kPromptSuffixTemplate = R"jinja(
  {%- if enable_thinking is defined and enable_thinking is false -%}
    {{- hermes.no_thought -}}
  {%- endif -%})jinja";

// An assistant message taken apart as Qwen3's template does.
struct Thought {
  std::string reasoning;
  std::string content;
};

Thought TakeApart(const Message& message) {
  if (message.reasoning) return {*message.reasoning, message.content};
  const std::string_view text = message.content;
  const size_t first = text.find(kThinkClose), last = text.rfind(kThinkClose);
  if (first == std::string_view::npos) return {"", message.content};
  std::string_view reasoning = TrimRight(text.substr(0, first), "\n");
  if (const size_t open = reasoning.rfind(kThinkOpen); open != std::string_view::npos) {
    reasoning.remove_prefix(open + kThinkOpen.size());
  }
  return {std::string(TrimLeft(reasoning, "\n")),
          std::string(TrimLeft(text.substr(last + kThinkClose.size()), "\n"))};
}

// The index of the user's last question; what comes after it belongs to the turn in progress.
size_t LastQuestion(const std::vector<Message>& messages) {
  for (size_t i = messages.size(); i-- > 0;) {
    const std::string& content = messages[i].content;
    const bool is_results =
        content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
    if (messages[i].role == Role::kUser && !is_results) return i;
  }
  return messages.empty() ? 0 : messages.size() - 1;
}

class Hermes final : public Dialect {
 public:
  explicit Hermes(HermesVariant variant) : variant_(variant), frame_(ChatMlFrame()) {
    frame_.policy_writes_close = true;
    const char* names[] = {"hermes:qwen2.5", "hermes:qwen3", "hermes:qwen3-training"};
    traits_.name = names[static_cast<int>(variant)];
    traits_.stops = {"<|im_end|>", "<|endoftext|>"};
    traits_.markers = {"<|endoftext|>", "<|im_start|>",    "<|im_end|>",      "<tool_call>",
                       "</tool_call>",  "<tool_response>", "</tool_response>"};
    traits_.specials = 3;
    if (variant != HermesVariant::kQwen25) {
      traits_.markers.insert(traits_.markers.end(), {"<think>", "</think>"});
    }
    traits_.marks.ends = traits_.stops;
    traits_.marks.think_open = kThinkOpen;
    traits_.marks.think_close = kThinkClose;
    traits_.marks.call_opens = {std::string(kCallOpen)};
    traits_.marks.call_closes = {std::string(kCallClose)};
    frame_.reserved = std::make_shared<ReservedTokens>(ReservedBy(traits_));
    spelling_.opening = [this](const std::string* system, const Json::Array& tools,
                               PieceBuilder* out) { Opening(system, tools, out); };
    spelling_.turn = [this](const Conversation& conversation, size_t index, PieceBuilder* out) {
      Turn(conversation, index, out);
      return Result<void>();
    };
    if (variant == HermesVariant::kQwen25) return;
    spelling_.prompt_suffix = [](const Conversation& conversation) {
      return std::string(conversation.enable_thinking == false ? kNoThought : "");
    };
    spelling_.turn_prefix = [this](const Conversation& conversation, size_t index) {
      return std::string(PromptThinksForTurn(conversation, index) ? kNoThought : "");
    };
  }

  const DialectTraits& traits() const override { return traits_; }

  Result<std::vector<Piece>> Render(const Conversation& conversation) const override {
    return RenderInFrame(frame_, spelling_, conversation);
  }

  Result<Piece> Continue(std::string_view turn, const Conversation& next) const override {
    if (variant_ == HermesVariant::kQwen3) {
      for (const Message& message : next.messages) {
        if (message.role != Role::kUser) continue;
        if (next.enable_thinking == false || turn.find(kThinkClose) != std::string_view::npos) {
          return Error(ErrorCode::kUnsupported,
                       "Qwen3's template removes earlier reasoning when the user speaks again, so "
                       "this cannot be appended: start a new segment, or use "
                       "hermes:qwen3-training, which keeps it");
        }
      }
    }
    return ContinueInFrame(frame_, spelling_, turn, next);
  }

  ParsedTurn Parse(std::string_view turn, TurnEnd end) const override {
    ParsedTurn parsed;
    const TurnText body = WithoutEndMarkers(turn, traits_.stops, end);
    size_t at = ReadReasoning(body.text, &parsed);
    std::string content;
    auto add_content = [&](std::string_view text) {
      if (!Trim(text).empty()) content += text;
    };
    while (at < body.text.size()) {
      const size_t open = body.text.find(kCallOpen, at);
      add_content(body.text.substr(at, open == std::string_view::npos ? open : open - at));
      if (open == std::string_view::npos) break;
      ReadNamedCall(body.text, open, kCallOpen, kCallClose, &at, &parsed);
    }
    AddTrailingFault(turn, body, &parsed);
    AddCutFault(body, end, {traits_.markers.begin(), traits_.markers.end()}, &parsed);
    const bool acts = !parsed.calls.empty() || !parsed.faults.empty();
    parsed.content = Readable(acts ? Trim(content) : std::string_view(content));
    if (acts) return parsed;
    if (Trim(content).empty()) {
      parsed.faults.push_back({FaultKind::kNoAction, "the turn is empty", {0, turn.size()}});
    } else {
      parsed.answer = parsed.content;
    }
    return parsed;
  }

  std::string ChatTemplate() const override {
    const bool qwen25 = variant_ == HermesVariant::kQwen25;
    TemplateSpelling spelling;
    spelling.definitions = JinjaSet(
        "hermes", Json::Of({{"default_system", qwen25 ? kDefaultSystem : ""},
                            {"tools_before", kToolsBefore},
                            {"tools_after", kToolsAfter},
                            {"call_open", kCallOpen},
                            {"call_close", kCallClose},
                            {"quotes_text", qwen25},
                            {"think_open", kThinkOpen},
                            {"think_close", kThinkClose},
                            {"no_thought", kNoThought},
                            {"keeps_thoughts", variant_ == HermesVariant::kQwen3Training}}));
    spelling.definitions += kCallsTemplate;
    spelling.opening = kOpeningTemplate;
    if (qwen25) {
      spelling.turn = kPlainTurnTemplate;
    } else {
      spelling.definitions += kLastQuestionTemplate;
      spelling.turn = kThoughtfulTurnTemplate;
      spelling.prompt_suffix = kPromptSuffixTemplate;
    }
    return ChatTemplateInFrame(frame_, spelling);
  }

 private:
  void Opening(const std::string* system, const Json::Array& tools, PieceBuilder* out) const {
    const bool qwen25 = variant_ == HermesVariant::kQwen25;
    if (tools.empty() && system == nullptr && !qwen25) return;
    out->Marker(frame_.system_open);
    if (system != nullptr) {
      out->Content(*system);
    } else if (qwen25) {
      out->Marker(kDefaultSystem);
    }
    if (!tools.empty()) {
      if (system != nullptr || qwen25) out->Marker("\n\n");
      out->Marker(kToolsBefore);
      for (const Json& tool : tools) out->Marker("\n").Content(DumpJson(tool, JsonStyle::kSpaced));
      out->Marker(kToolsAfter);
    }
    out->Marker(frame_.system_close);
  }

  // Whether the template writes a block of thought, perhaps empty, before this turn.
  bool ShowsThought(const Conversation& conversation, size_t index, const Thought& thought) const {
    if (variant_ == HermesVariant::kQwen25) return false;
    if (variant_ == HermesVariant::kQwen3Training) return true;
    if (index <= LastQuestion(conversation.messages)) return false;
    return index + 1 == conversation.messages.size() || !thought.reasoning.empty();
  }

  // With thinking switched off the prompt holds the empty block of thought, not the turn.
  bool PromptThinksForTurn(const Conversation& conversation, size_t index) const {
    const Thought thought = TakeApart(conversation.messages[index]);
    return conversation.enable_thinking == false && Trim(thought.reasoning, "\n").empty() &&
           ShowsThought(conversation, index, thought);
  }

  void Turn(const Conversation& conversation, size_t index, PieceBuilder* out) const {
    const Message& message = conversation.messages[index];
    std::string content = message.content;
    if (variant_ != HermesVariant::kQwen25) {
      Thought thought = TakeApart(message);
      content = thought.content;
      if (ShowsThought(conversation, index, thought)) {
        if (!PromptThinksForTurn(conversation, index)) {
          out->Marker(kThinkOpen).Marker("\n");
          out->Content(Trim(thought.reasoning, "\n"))
              .Marker("\n")
              .Marker(kThinkClose)
              .Marker("\n\n");
        }
        content = TrimLeft(content, "\n");
      }
      // The template decides about the line break by the content before it is trimmed.
      SpellTurn(content, !thought.content.empty(), message.calls, out);
      return;
    }
    SpellTurn(content, !content.empty(), message.calls, out);
  }

  void SpellTurn(const std::string& content, bool has_content,
                 const std::vector<MessageCall>& calls, PieceBuilder* out) const {
    out->Content(content);
    for (size_t i = 0; i < calls.size(); ++i) {
      if (i > 0 || has_content) out->Marker("\n");
      // Qwen3's template writes arguments that are text as they are; Qwen2.5's quotes them.
      const bool raw = calls[i].arguments.is_string() && variant_ != HermesVariant::kQwen25;
      out->Marker(kCallOpen).Marker("\n{\"name\": \"").Content(calls[i].name);
      out->Marker("\", \"arguments\": ")
          .Content(raw ? calls[i].arguments.AsString()
                       : DumpJson(calls[i].arguments, JsonStyle::kSpaced));
      out->Marker("}\n").Marker(kCallClose);
    }
  }

  // Takes the block of thought off the beginning and returns where the rest begins. The prompt may
  // have opened the block already, so text before a lone </think> is thought too, unless that
  // stands inside a call that can be read.
  static size_t ReadReasoning(std::string_view text, ParsedTurn* parsed) {
    const std::string_view begun = TrimLeft(text, "\n ");
    size_t begin = 0, close = std::string_view::npos;
    if (begun.starts_with(kThinkOpen)) {
      begin = RangeIn(text, begun).begin + kThinkOpen.size();
      close = text.find(kThinkClose, begin);
      if (close == std::string_view::npos) {
        parsed->faults.push_back({FaultKind::kIncomplete,
                                  "the thought is not closed with </think>",
                                  {begin - kThinkOpen.size(), text.size()}});
        parsed->reasoning = Readable(Trim(text.substr(begin), "\n"));
        parsed->thoughts.push_back({begin - kThinkOpen.size(), text.size()});
        return text.size();
      }
    } else {
      close = LoneThinkClose(text);
      if (close == std::string_view::npos) return 0;
    }
    parsed->reasoning = Readable(Trim(text.substr(begin, close - begin), "\n"));
    const size_t after = close + kThinkClose.size();
    parsed->thoughts.push_back({begin == 0 ? 0 : begin - kThinkOpen.size(), after});
    const size_t rest = text.find_first_not_of('\n', after);
    return rest == std::string_view::npos ? text.size() : rest;
  }

  // A </think> without its opening, outside of the JSON of any call. Behind a call that can be read
  // it ends a thought only if more calls follow; else the call was meant, and the tag is stray
  // text.
  static size_t LoneThinkClose(std::string_view text) {
    size_t close = text.find(kThinkClose), at = 0;
    bool after_call = false;
    while (close != std::string_view::npos) {
      const size_t call = text.find(kCallOpen, at);
      if (close < call) {
        const bool ends_thought = !after_call || call != std::string_view::npos;
        return ends_thought ? close : std::string_view::npos;
      }
      const size_t begin = call + kCallOpen.size();
      const JsonPrefix json = ParseJsonPrefix(text.substr(begin));
      if (json.cut) return std::string_view::npos;  // all the rest is inside an unfinished call
      after_call = after_call || json.value.has_value();
      at = begin + json.end;  // behind the value, or where it goes wrong
      if (close < at) close = text.find(kThinkClose, at);
    }
    return std::string_view::npos;
  }

  HermesVariant variant_;
  Frame frame_;
  Spelling spelling_;
  DialectTraits traits_;
};

}  // namespace

std::unique_ptr<Dialect> NewHermes(HermesVariant variant) {
  return std::make_unique<Hermes>(variant);
}

}  // namespace hone
