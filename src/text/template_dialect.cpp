// The `template` dialect: a model's own chat template, run by the interpreter in jinja.h.

#include "text/template_dialect.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "text/frame.h"
#include "text/jinja/jinja.h"
#include "text/template_context.h"
#include "text/turn_text.h"

namespace hone {
namespace {

// Words that no template says by itself, to find what stands around them.
constexpr char kProbe[] = "hone-probe-words";
constexpr char kProbeCall[] = "hone_probe_tool";
constexpr char kProbeTool[] =
    R"({"type": "function", "function": {"name": "hone_probe_tool", "description": "a",
        "parameters": {"type": "object", "properties": {"x": {"type": "string", "description": "a"}},
        "required": ["x"]}}})";

// A tag at the beginning of a text: <...> or [...]. Nothing when there is none.
std::string_view FirstTag(std::string_view text) {
  if (text.empty() || (text[0] != '<' && text[0] != '[')) return {};
  const size_t close = text.find(text[0] == '<' ? '>' : ']');
  return close == text.npos ? std::string_view() : text.substr(0, close + 1);
}

// The same at the end.
std::string_view LastTag(std::string_view text) {
  if (!text.ends_with('>') && !text.ends_with(']')) return {};
  const size_t open = text.rfind(text.back() == '>' ? '<' : '[');
  return open == text.npos ? std::string_view() : text.substr(open);
}

// What a turn says in its block of thought, whose opening may stand in the prompt.
std::string_view ThoughtOf(std::string_view turn) {
  const size_t close = turn.find(kThinkClose), open = turn.find(kThinkOpen);
  if (close == turn.npos) return {};
  const size_t begin = open < close ? open + kThinkOpen.size() : 0;
  return Trim(turn.substr(begin, close - begin));
}

bool IsTurnOf(const Conversation& conversation, size_t index) {
  return conversation.messages[index].role == Role::kAssistant;
}

Conversation Beginning(const Conversation& conversation, size_t count) {
  Conversation beginning = conversation;
  beginning.messages.resize(count);
  return beginning;
}

// What the template itself wrote of a text.
void ReserveOwnPart(const JinjaText& text, ReservedTokens* reserved) {
  size_t at = 0;
  for (const ByteRange& foreign : text.foreign()) {
    reserved->ReserveAllIn(text.view().substr(at, foreign.begin - at));
    at = foreign.end;
  }
  reserved->ReserveAllIn(text.view().substr(at));
}

class TemplateDialect final : public Dialect {
 public:
  TemplateDialect(ModelTemplate model, TemplateOptions settings)
      : model_(std::move(model)), settings_(std::move(settings)) {}

  // Reads the templates and finds out their habits.
  Result<void> Open() {
    for (const auto& [name, source] : model_.sources) {
      Result<JinjaTemplate> parsed = JinjaTemplate::Parse(source);
      if (!parsed.ok()) return parsed.error().In(Where(name));
      templates_.emplace(name, *std::move(parsed));
    }
    if (settings_.name && !templates_.contains(*settings_.name)) {
      std::vector<std::string> names;
      for (const auto& [name, source] : model_.sources) names.push_back(name);
      return Error(ErrorCode::kNotFound,
                   fmt::format("{} has no template \"{}\"; there are: {}", model_.where,
                               *settings_.name, fmt::join(names, ", ")));
    }
    const std::string& source = SourceFor(true);
    habits_.reasoning_apart = source.find("reasoning_content") != source.npos;
    traits_.name = settings_.dialect;
    traits_.takes_arguments = true;
    probe_.messages.push_back({.role = Role::kSystem, .content = kProbe});
    probe_.messages.push_back({.role = Role::kUser, .content = kProbe});
    probe_.tools.push_back(*ParseJson(kProbeTool));
    HONE_RETURN_IF_ERROR(FindTurnEnd());
    FindCallHabits();
    if (const auto eos = model_.tokens.find("eos_token"); eos != model_.tokens.end()) {
      AddStop(eos->second);
    }
    for (const std::string& stop : model_.stops) AddStop(stop);
    traits_.markers = traits_.stops;
    traits_.marks = MarksOf(calls_, source);
    traits_.marks.ends = traits_.stops;
    ReserveMarkers();
    return {};
  }

  const DialectTraits& traits() const override { return traits_; }

  Result<std::vector<Piece>> Render(const Conversation& conversation) const override {
    const bool prompt = conversation.add_generation_prompt.value_or(PolicyIsNext(conversation));
    HONE_ASSIGN_OR_RETURN(const JinjaText whole, TextFor(conversation, prompt));
    std::vector<Piece> pieces;
    size_t at = 0, from = 0;  // what is in pieces, in bytes and in messages
    for (size_t i = 0; i < conversation.messages.size(); ++i) {
      if (!IsTurnOf(conversation, i)) continue;
      const std::optional<ByteRange> turn = TurnIn(whole, conversation, i);
      if (!turn || turn->begin < at) continue;
      AddOthers(conversation, from, i, whole, {at, turn->begin}, &pieces);
      pieces.push_back(PieceOf(Author::kPolicy, whole, *turn));
      at = turn->end;
      from = i + 1;
    }
    AddOthers(conversation, from, conversation.messages.size(), whole, {at, whole.size()}, &pieces);
    return pieces;
  }

  // What the template puts behind a turn, in a conversation of the usual shape: with a system's
  // message, tools and a question. A template that moves any of these along with the conversation
  // rewrites what was said.
  Result<Piece> Continue(std::string_view turn, const Conversation& next) const override {
    Result<Piece> piece = After(probe_, turn, next);
    if (piece.ok() && NameFor(true) != NameFor(false)) {
      // Which of them the conversation began with is not known here.
      Conversation without = probe_;
      without.tools.clear();
      const Result<Piece> other = After(without, turn, next);
      if (!other.ok() || other->text != piece->text) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("the templates of {} with and without tools go on differently, so "
                                 "this cannot be appended: start a new segment, or choose one "
                                 "(?name=NAME)",
                                 model_.where));
      }
    }
    if (piece.ok() || piece.error().code() == ErrorCode::kUnsupported) return piece;
    Conversation plain;  // for templates that know no system or no tools
    plain.messages.push_back({.role = Role::kUser, .content = kProbe});
    return After(plain, turn, next);
  }

  ParsedTurn Parse(std::string_view turn, TurnEnd end) const override {
    return ParseTurnIn(calls_, turn, traits_.stops, end);
  }

  std::string ChatTemplate() const override { return SourceFor(true); }

 private:
  std::string Where(std::string_view name) const {
    return name == "default" ? fmt::format("the chat template of {}", model_.where)
                             : fmt::format("the chat template \"{}\" of {}", name, model_.where);
  }

  std::string NameFor(bool tools) const {
    if (settings_.name) return *settings_.name;
    if (tools && templates_.contains("tool_use")) return "tool_use";
    return templates_.contains("default") ? "default" : model_.sources[0].first;
  }
  const std::string& SourceFor(bool tools) const { return *model_.Find(NameFor(tools)); }

  // The settings' arguments hold where the conversation has none of that name.
  Conversation WithArguments(const Conversation& conversation) const {
    Conversation whole = conversation;
    for (const auto& [name, value] : settings_.arguments) {
      if (name == "enable_thinking") {
        if (!whole.enable_thinking) whole.enable_thinking = value.AsBool();
        continue;
      }
      const bool said =
          std::any_of(whole.template_arguments.begin(), whole.template_arguments.end(),
                      [&](const Json::Member& member) { return member.first == name; });
      if (!said) whole.template_arguments.emplace_back(name, value);
    }
    return whole;
  }

  Result<JinjaText> TextFor(const Conversation& conversation, bool prompt) const {
    const std::string name = NameFor(!conversation.tools.empty());
    HONE_ASSIGN_OR_RETURN(
        const JinjaDict variables,
        TemplateContext(WithArguments(conversation), prompt, model_.tokens, habits_));
    Result<JinjaRendering> rendered = templates_.at(name).Render(variables, settings_.date);
    if (rendered.ok()) return std::move(rendered->text);
    // kUnsupported is kept for histories that are rewritten.
    return Error(ErrorCode::kInvalidArgument, rendered.error().In(Where(name)).message());
  }

  void AddStop(std::string_view stop) {
    if (!stop.empty() &&
        std::find(traits_.stops.begin(), traits_.stops.end(), stop) == traits_.stops.end()) {
      traits_.stops.emplace_back(stop);
    }
  }

  // What stands behind an assistant's words ends a turn.
  Result<void> FindTurnEnd() {
    Conversation probe;
    probe.messages.push_back({.role = Role::kUser, .content = "a"});
    probe.messages.push_back({.role = Role::kAssistant, .content = kProbe});
    Result<JinjaText> rendered = TextFor(probe, false);
    if (!rendered.ok()) {  // some want tools
      probe.tools = probe_.tools;
      const Result<JinjaText> with_tools = TextFor(probe, false);
      if (with_tools.ok()) rendered = with_tools;
    }
    HONE_ASSIGN_OR_RETURN(const JinjaText text, std::move(rendered));
    const size_t at = text.view().find(kProbe);
    if (at == std::string_view::npos) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("the template of {} does not say what an assistant said", model_.where));
    }
    const std::string_view tail = Trim(text.view().substr(at + sizeof kProbe - 1));
    const auto eos = model_.tokens.find("eos_token");
    if (eos != model_.tokens.end() && !eos->second.empty() && tail.starts_with(eos->second)) {
      AddStop(eos->second);
    } else {
      AddStop(FirstTag(tail).empty() ? tail : FirstTag(tail));
    }
    return {};
  }

  // How the model calls: as was said, else as its template writes a call, else as its text looks.
  void ChooseFormat(std::string_view turn, const MessageCall& call) {
    const std::string& source = SourceFor(true);
    std::optional<CallFormat> shown;
    if (!turn.empty()) shown = CallFormatReading(turn, call, traits_.stops);
    // What ends an answer may stand in a call.
    if (!turn.empty() && !shown) shown = CallFormatReading(turn, call, {});
    if (shown == CallFormat::kLlama3 && GuessCallFormat(source) == CallFormat::kLlama3Tag) {
      shown = CallFormat::kLlama3Tag;
    }
    calls_ = settings_.calls.value_or(shown.value_or(GuessCallFormat(source)));
    traits_.call_format = CallFormatName(calls_);
    traits_.call_format_found = settings_.calls ? "as the setting says"
                                : shown         ? "found by a call that its template wrote"
                                : calls_ != CallFormat::kNone ? "found by the text of its template"
                                                              : "as its template shows no calls";
  }

  // What the template writes for a turn, behind what it writes before it.
  std::string TurnShown(const Conversation& before, const JinjaText& spoken) const {
    const Result<JinjaText> prompt = TextFor(before, true);
    if (!prompt.ok()) return "";
    const std::string_view whole = spoken.view(), opening = prompt->view();
    size_t common = 0;
    while (common < std::min(whole.size(), opening.size()) && whole[common] == opening[common]) {
      ++common;
    }
    // A prompt may hold a thought that the turn does not: then it begins with the mark that
    // differs.
    if (common < opening.size()) {
      const size_t mark = whole.rfind('<', common);
      if (mark != whole.npos && whole.find('>', mark) >= common) common = mark;
    }
    return std::string(whole.substr(common));
  }

  // Which shape of a call the template shows, tried one after the other, with tools and without.
  void FindCallHabits() {
    Conversation before;
    before.messages.push_back({.role = Role::kUser, .content = "a"});
    const MessageCall call{kProbeCall, Json::Of({{"x", kProbe}})};
    using EmptyContent = TemplateHabits::EmptyContent;
    const TemplateHabits usual = habits_;
    for (const bool with_tools : {true, false}) {
      before.tools = with_tools ? probe_.tools : Json::Array();
      Conversation probe = before;
      probe.messages.push_back({.role = Role::kAssistant, .calls = {call}});
      for (const bool as_text : {false, true}) {
        for (const EmptyContent empty :
             {EmptyContent::kText, EmptyContent::kNone, EmptyContent::kAbsent}) {
          habits_.arguments_as_text = as_text;
          habits_.empty_content = empty;
          const Result<JinjaText> text = TextFor(probe, false);
          if (!text.ok()) continue;
          const std::string turn = TurnShown(before, *text);
          if (turn.find(kProbeCall) == turn.npos || turn.find(kProbe) == turn.npos) continue;
          ChooseFormat(turn, call);
          AddCallStop(turn);
          return;
        }
      }
    }
    habits_ = usual;  // it shows no calls at all
    ChooseFormat("", call);
  }

  // What stands behind a call ends a turn as well; what stands in it does not.
  void AddCallStop(std::string_view turn) {
    const ParsedTurn parsed = ParseTurnIn(calls_, turn, {}, TurnEnd::kEnded);
    const auto in = [](std::string_view text) {
      return [text](const std::string& stop) { return text.find(stop) != text.npos; };
    };
    if (parsed.calls.empty()) {
      const std::string_view tag = LastTag(Trim(turn));
      const bool ends = std::any_of(traits_.stops.begin(), traits_.stops.end(), in(turn));
      if (!ends && tag.find(kProbe) == tag.npos) AddStop(tag);
      return;
    }
    const size_t begin = parsed.calls.front().range.begin, end = parsed.calls.back().range.end;
    const std::string_view call = turn.substr(begin, end - begin);
    std::erase_if(traits_.stops, in(call));
    const std::string_view behind = Trim(turn.substr(end));
    for (const std::string_view tag : {FirstTag(behind), LastTag(behind)}) {
      if (tag.empty() || call.find(tag) != call.npos) continue;
      AddStop(tag);
      break;
    }
  }

  // What the template writes: what stands in its text, and what it puts together while it runs.
  void ReserveMarkers() {
    ReservedTokens reserved = ReservedBy(traits_);
    for (const auto& [name, source] : model_.sources) reserved.ReserveAllIn(source);
    for (const auto& [name, token] : model_.tokens) reserved.Reserve(token);
    Conversation probe = probe_;
    for (const char* step : {"question", "call", "result", "answer"}) {
      if (step == std::string_view("call")) {
        probe.messages.push_back({.role = Role::kAssistant,
                                  .reasoning = kProbe,
                                  .calls = {{kProbeCall, Json::Of({{"x", kProbe}})}}});
      } else if (step == std::string_view("result")) {
        probe.messages.push_back({.role = Role::kTool, .content = kProbe, .name = kProbeCall});
      } else if (step == std::string_view("answer")) {
        probe.messages.push_back({.role = Role::kAssistant, .content = kProbe});
      }
      const Result<JinjaText> text = TextFor(probe, true);
      if (text.ok()) ReserveOwnPart(*text, &reserved);
    }
    reserved_ = std::make_shared<ReservedTokens>(std::move(reserved));
  }

  Piece PieceOf(Author author, const JinjaText& text, ByteRange range) const {
    const JinjaText part = text.Part(range);
    return {author, part.bytes(), part.foreign(), reserved_, {}};
  }

  Result<Piece> After(Conversation before, std::string_view turn, const Conversation& next) const {
    if (next.messages.empty() || !next.tools.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "a continuation has messages, and no tools: those stand at the beginning");
    }
    before.enable_thinking = next.enable_thinking;
    before.template_arguments = next.template_arguments;
    Conversation said = before;
    said.messages.push_back(MessageOfTurn(turn));
    bool made_up = false;
    // Templates refuse results that nobody called for. What counts here is what follows the turn.
    for (size_t i = 0; i < next.messages.size() && next.messages[i].role == Role::kTool; ++i) {
      std::vector<MessageCall>& calls = said.messages.back().calls;
      const std::string& tool = next.messages[i].name;
      if (calls.size() > i) continue;
      calls.push_back({tool.empty() ? kProbeCall : tool, Json::Object()});
      made_up = true;
    }
    Conversation all = said;
    for (const Message& message : next.messages) {
      if (message.role == Role::kAssistant) {
        return Error(ErrorCode::kInvalidArgument,
                     "a continuation holds no turn of the assistant's");
      }
      all.messages.push_back(message);
    }
    HONE_ASSIGN_OR_RETURN(const JinjaText prompt, TextFor(before, true));
    HONE_ASSIGN_OR_RETURN(const JinjaText spoken, TextFor(said, false));
    HONE_ASSIGN_OR_RETURN(const JinjaText whole,
                          TextFor(all, next.add_generation_prompt.value_or(true)));
    const ByteRange end = EndOfTurn(spoken, prompt.size());
    if (!spoken.view().starts_with(prompt.view()) || whole.size() < end.end ||
        (!made_up &&
         spoken.view().find(ThoughtOf(turn), prompt.size()) == std::string_view::npos) ||
        whole.view().substr(0, end.end) != spoken.view().substr(0, end.end)) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("the template of {} writes what was said before otherwise when the "
                               "conversation goes on, so this cannot be appended: start a new "
                               "segment",
                               model_.where));
    }
    // What the policy wrote is kept as it is; a turn that was cut off gets the marker it lacks.
    const bool closed = std::any_of(traits_.stops.begin(), traits_.stops.end(),
                                    [&](const std::string& stop) { return turn.ends_with(stop); });
    const bool results = next.messages[0].role == Role::kTool;
    return PieceOf(results ? Author::kTool : Author::kUser, whole,
                   {closed ? end.end : end.begin, whole.size()});
  }

  // The marker that ends the turn which begins at `begin` and is the last thing in the text; empty,
  // at the text's end, when there is none.
  ByteRange EndOfTurn(const JinjaText& text, size_t begin) const {
    const ByteRange nothing{text.size(), text.size()};
    std::optional<ByteRange> last = LastStop(text.view(), begin);
    // Some templates put eos_token behind the marker where nobody goes on.
    while (last) {
      const std::string_view before = TrimRight(text.view().substr(0, last->begin));
      const std::optional<ByteRange> other = LastStop(before, begin);
      if (!other || other->end != before.size()) break;
      last = other;
    }
    return last.value_or(nothing);
  }

  std::optional<ByteRange> LastStop(std::string_view text, size_t begin) const {
    std::optional<ByteRange> last;
    for (const std::string& stop : traits_.stops) {
      const size_t at = text.rfind(stop);
      if (at == text.npos || at < begin) continue;
      if (!last || at + stop.size() > last->end) last = {at, at + stop.size()};
    }
    return last;
  }

  // Where the turn of messages[index] stands in the whole; nothing when the template does not set
  // it off: when it writes it otherwise once more has been said.
  std::optional<ByteRange> TurnIn(const JinjaText& whole, const Conversation& conversation,
                                  size_t index) const {
    const auto before = TextFor(Beginning(conversation, index), true);
    const auto spoken = TextFor(Beginning(conversation, index + 1), false);
    if (!before.ok() || !spoken.ok() || !spoken->view().starts_with(before->view())) {
      return std::nullopt;
    }
    const size_t end = EndOfTurn(*spoken, before->size()).end;
    if (end <= before->size() || !whole.view().starts_with(spoken->view().substr(0, end))) {
      return std::nullopt;
    }
    return ByteRange{before->size(), end};
  }

  // What stands between turns: messages[from, to) and the template's own words. The system's
  // message at the beginning is a piece of its own where the template can say it alone.
  void AddOthers(const Conversation& conversation, size_t from, size_t to, const JinjaText& whole,
                 ByteRange range, std::vector<Piece>* pieces) const {
    const auto& messages = conversation.messages;
    if (from == 0 && to > 1 && messages[0].role == Role::kSystem) {
      const auto system = TextFor(Beginning(conversation, 1), false);
      if (system.ok() && !system->empty() && system->size() < range.end &&
          whole.view().starts_with(system->view())) {
        pieces->push_back(PieceOf(Author::kSystem, whole, {0, system->size()}));
        range.begin = system->size();
        from = 1;
      }
    }
    if (range.begin == range.end) return;
    Author author = Author::kSystem;
    for (size_t i = from; i < to; ++i) {
      if (messages[i].role == Role::kTool) author = Author::kTool;
      if (messages[i].role == Role::kUser) author = Author::kUser;
    }
    pieces->push_back(PieceOf(author, whole, range));
  }

  // A turn as the message that a client would send back.
  Message MessageOfTurn(std::string_view turn) const {
    ParsedTurn parsed = Parse(turn, TurnEnd::kUnknown);
    Message message{.role = Role::kAssistant};
    if (!parsed.faults.empty()) {  // as it stands
      message.content = Readable(WithoutEndMarkers(turn, traits_.stops, TurnEnd::kEnded).text);
      return message;
    }
    message.content = parsed.answer.value_or(parsed.content);
    if (!parsed.reasoning.empty()) message.reasoning = parsed.reasoning;
    for (ParsedCall& call : parsed.calls) {
      message.calls.push_back({std::move(call.name), std::move(call.arguments)});
    }
    return message;
  }

  ModelTemplate model_;
  TemplateOptions settings_;
  std::map<std::string, JinjaTemplate> templates_;
  CallFormat calls_ = CallFormat::kNone;
  TemplateHabits habits_;
  DialectTraits traits_;
  Conversation probe_;
  std::shared_ptr<const ReservedTokens> reserved_;
};

}  // namespace

Result<std::unique_ptr<Dialect>> NewTemplateDialect(ModelTemplate model, TemplateOptions settings) {
  auto dialect = std::make_unique<TemplateDialect>(std::move(model), std::move(settings));
  HONE_RETURN_IF_ERROR(dialect->Open());
  return std::unique_ptr<Dialect>(std::move(dialect));
}

}  // namespace hone
