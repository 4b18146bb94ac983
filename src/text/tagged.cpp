#include "text/tagged.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "text/chat_template.h"
#include "text/frame.h"
#include "text/tagged_template.h"
#include "text/turn_text.h"

namespace hone {
namespace {

std::string Open(std::string_view tag) { return fmt::format("<{}>", tag); }
std::string Close(std::string_view tag) { return fmt::format("</{}>", tag); }

// The inside of the last \boxed{…} whose braces balance, in one walk over the braces.
std::optional<std::string_view> LastBoxed(std::string_view text) {
  constexpr std::string_view kBoxed = "\\boxed";
  struct Open {
    size_t inside;
    bool boxed;
  };
  std::vector<Open> open;
  std::optional<std::string_view> last;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') {
      open.push_back({i + 1, text.substr(0, i).ends_with(kBoxed)});
    } else if (text[i] == '}' && !open.empty()) {
      const Open closed = open.back();
      open.pop_back();
      const bool later = !last || closed.inside > static_cast<size_t>(last->data() - text.data());
      if (closed.boxed && later) last = text.substr(closed.inside, i - closed.inside);
    }
  }
  return last;
}

class Tagged final : public Dialect {
 public:
  explicit Tagged(TagSet tags) : tags_(std::move(tags)) {
    frame_ = tags_.chat ? ChatMlFrame() : PlainFrame();
    if (tags_.chat) {
      frame_.inline_results = true;
      frame_.results_open = frame_.results_close = "";
    }
    DescribeTraits();
    frame_.reserved = std::make_shared<ReservedTokens>(ReservedBy(traits_));
    spelling_.opening = [this](const std::string* system, const Json::Array& tools,
                               PieceBuilder* out) {
      SpellSystem(frame_, system, tools, HowToAct(), out);
    };
    spelling_.turn = [this](const Conversation& conversation, size_t index, PieceBuilder* out) {
      return Turn(conversation.messages[index], out);
    };
    spelling_.result_markers = [this](const Message& message) {
      const ActionTag* action = ActionOf(message.name);
      return action != nullptr ? std::pair(action->result_open, action->result_close)
                               : std::pair(frame_.result_open, frame_.result_close);
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
    const TurnText body = WithoutEndMarkers(turn, end_markers_, end);
    TagFinder finder(*this, body.text);
    size_t at = 0;
    bool acted = false;
    while (at < body.text.size() && !acted) {
      const Tag tag = finder.Next(at);
      PlainText(body.text, at, tag.at, &parsed);
      if (tag.at == body.text.size()) break;
      at = tag.at;
      if (tag.kind == Tag::kThink) {
        at = ReadThought(body.text, at, &parsed);
      } else {
        at = tag.kind == Tag::kAnswer ? ReadAnswer(body.text, at, &parsed)
                                      : ReadAction(body.text, at, *tag.action, &parsed);
        acted = true;
      }
    }
    const bool read = !parsed.calls.empty() || parsed.answer.has_value();
    if (acted && !Trim(body.text.substr(std::min(at, body.text.size()))).empty()) {
      parsed.faults.push_back(
          {FaultKind::kUnexpectedText, "text after the action", {at, body.text.size()}});
      parsed.answer.reset();
    }
    parsed.content = Readable(Trim(parsed.content));
    AddTrailingFault(turn, body, &parsed);
    // A closing tag is itself an end, so a turn whose action could be read was not cut off.
    if (!read) AddCutFault(body, end, {traits_.markers.begin(), traits_.markers.end()}, &parsed);
    if (!acted && tags_.boxed && parsed.faults.empty()) {
      if (const auto boxed = LastBoxed(body.text)) parsed.answer = Readable(Trim(*boxed));
    }
    if (!acted && !parsed.answer && parsed.faults.empty()) {
      parsed.faults.push_back({FaultKind::kNoAction,
                               "the turn holds neither an action nor an answer",
                               {0, turn.size()}});
    }
    return parsed;
  }

  std::string ChatTemplate() const override {
    TemplateSpelling spelling;
    spelling.definitions = JinjaSet("tags", TemplateData());
    spelling.definitions += CompactJsonMacro();
    spelling.definitions += kCallTemplate;
    spelling.opening = SystemTemplate(HowToAct());
    spelling.turn = kTaggedTurn;
    spelling.result_markers = kResultTemplate;
    return ChatTemplateInFrame(frame_, spelling);
  }

 private:
  struct Tag {
    enum Kind { kThink, kAnswer, kAction } kind = kAction;
    size_t at;
    const ActionTag* action = nullptr;
  };

  void DescribeTraits() {
    traits_.name = "tagged:" + tags_.name;
    traits_.markers = {"<|endoftext|>"};
    if (tags_.chat) {
      traits_.markers.insert(traits_.markers.end(), {"<|im_start|>", "<|im_end|>"});
    } else {
      traits_.markers.insert(traits_.markers.end(), {"<system>", "</system>", "<user>", "</user>"});
    }
    traits_.specials = traits_.markers.size();
    end_markers_ = {"<|endoftext|>"};
    if (tags_.chat) end_markers_.emplace_back("<|im_end|>");
    auto add_tag = [this](const std::string& tag) {
      traits_.markers.push_back(Open(tag));
      traits_.markers.push_back(Close(tag));
    };
    if (!tags_.think.empty()) add_tag(tags_.think);
    for (const ActionTag& action : tags_.actions) {
      if (action.body == ActionBody::kMarker) {
        traits_.markers.push_back(Open(action.tag));
        traits_.stops.push_back(Open(action.tag));
      } else {
        add_tag(action.tag);
        traits_.stops.push_back(Close(action.tag));
      }
      for (const std::string* marker : {&action.result_open, &action.result_close}) {
        const std::string trimmed(Trim(*marker));
        const auto& known = traits_.markers;
        if (!trimmed.empty() && std::find(known.begin(), known.end(), trimmed) == known.end()) {
          traits_.markers.push_back(trimmed);
        }
      }
    }
    if (!tags_.answer.empty()) {
      add_tag(tags_.answer);
      traits_.stops.push_back(Close(tags_.answer));
    }
    traits_.stops.insert(traits_.stops.end(), end_markers_.begin(), end_markers_.end());
    TurnMarks& marks = traits_.marks;
    marks.ends = end_markers_;
    if (!tags_.think.empty())
      marks.think_open = Open(tags_.think), marks.think_close = Close(tags_.think);
    marks.thinks_again = !tags_.think.empty();
    if (!tags_.answer.empty()) {
      marks.answer_open = Open(tags_.answer);
      marks.answer_close = Close(tags_.answer);
    }
    for (const ActionTag& action : tags_.actions) {
      const bool closed = action.body != ActionBody::kMarker;
      marks.call_opens.push_back(Open(action.tag));
      marks.call_closes.push_back(closed ? Close(action.tag) : Open(action.tag));
    }
    marks.whole_only = tags_.boxed;
  }

  // The action that calls this tool: its own, or the one that can call any.
  const ActionTag* ActionOf(const std::string& tool) const {
    const ActionTag* any = nullptr;
    for (const ActionTag& action : tags_.actions) {
      if (action.body == ActionBody::kJson) {
        any = &action;
      } else if (action.tool == tool) {
        return &action;
      }
    }
    if (any == nullptr && tool.empty() && !tags_.actions.empty()) any = &tags_.actions[0];
    return any;
  }

  // --- the chat template -------------------------------------------------------------------------

  // What the template knows of the tags. An empty object stands for what there is not.
  Json TemplateData() const {
    const auto pair_of = [](const std::string& tag) {
      return tag.empty() ? Json(Json::Object())
                         : Json::Of({{"open", Open(tag)}, {"close", Close(tag)}});
    };
    Json action_of = Json::Object(), any = Json::Object();
    for (const ActionTag& action : tags_.actions) {
      if (action.body == ActionBody::kJson) {
        any = TemplateData(action);
      } else {
        action_of.Set(action.tool, TemplateData(*ActionOf(action.tool)));
      }
    }
    if (const ActionTag* unnamed = ActionOf("")) action_of.Set("", TemplateData(*unnamed));
    return Json::Of({{"think", pair_of(tags_.think)},
                     {"free_text", tags_.free_text},
                     {"answer", pair_of(tags_.answer)},
                     {"action_of", action_of},
                     {"any", any}});
  }

  static Json TemplateData(const ActionTag& action) {
    const char* bodies[] = {"json", "text", "marker"};
    return Json::Of({{"open", Open(action.tag)},
                     {"close", Close(action.tag)},
                     {"body", bodies[static_cast<int>(action.body)]},
                     {"argument", action.argument},
                     {"body_open", action.body_open},
                     {"body_close", action.body_close},
                     {"result_open", action.result_open},
                     {"result_close", action.result_close}});
  }

  // --- rendering ---------------------------------------------------------------------------------

  // What the policy is told about acting, after the list of tools.
  std::string HowToAct() const {
    std::string text = "To act, write one of\n";
    for (const ActionTag& action : tags_.actions) text += Example(action) + "\n";
    text += tags_.answer.empty()
                ? "and to answer, \\boxed{answer}"
                : fmt::format("and to answer, {}answer{}", Open(tags_.answer), Close(tags_.answer));
    return text;
  }

  static std::string Example(const ActionTag& action) {
    if (action.body == ActionBody::kMarker) return Open(action.tag);
    const std::string body = action.body == ActionBody::kJson
                                 ? R"({"name": "tool", "arguments": {}})"
                                 : action.body_open + action.argument + action.body_close;
    return Open(action.tag) + body + Close(action.tag);
  }

  Result<void> Turn(const Message& message, PieceBuilder* out) const {
    if (message.calls.size() > 1) {
      return Error(
          ErrorCode::kUnsupported,
          "a tagged dialect has one call per turn; put the others into turns of their own");
    }
    const bool calls = !message.calls.empty();
    std::string thought = message.reasoning.value_or("");
    if (calls) thought += message.content;
    if (!thought.empty()) {
      if (!tags_.think.empty()) {
        HONE_RETURN_IF_ERROR(CheckHolds(thought, tags_.think));
        out->Marker(Open(tags_.think)).Content(thought).Marker(Close(tags_.think)).Marker("\n");
      } else if (tags_.free_text) {
        out->Content(thought).Marker("\n");
      } else {
        return Error(
            ErrorCode::kUnsupported,
            fmt::format("tagged:{} has no place for thought beside an action", tags_.name));
      }
    }
    if (calls) return SpellCall(message.calls[0], out);
    if (tags_.answer.empty()) {
      out->Content(message.content);
    } else {
      HONE_RETURN_IF_ERROR(CheckHolds(message.content, tags_.answer));
      out->Marker(Open(tags_.answer)).Content(message.content).Marker(Close(tags_.answer));
    }
    return {};
  }

  // Plain text between tags ends at the first closing tag, so it cannot hold one.
  static Result<void> CheckHolds(std::string_view text, const std::string& tag) {
    if (text.find(Close(tag)) == std::string_view::npos) return {};
    return Error(ErrorCode::kUnsupported,
                 fmt::format("text that holds {} cannot stand in {}", Close(tag), Open(tag)));
  }

  Result<void> SpellCall(const MessageCall& call, PieceBuilder* out) const {
    const ActionTag* action = ActionOf(call.name);
    if (action == nullptr) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("tagged:{} has no tag that calls {}", tags_.name, call.name));
    }
    Json arguments = call.arguments;
    if (arguments.is_string()) {
      HONE_ASSIGN_OR_RETURN(arguments, ParseJson(arguments.AsString()));
    }
    if (!arguments.is_object()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the arguments of the call of {} are not an object", call.name));
    }
    out->Marker(Open(action->tag));
    if (action->body == ActionBody::kMarker) return {};
    if (action->body == ActionBody::kJson) {
      out->Content(DumpJson(Json::Of({{"name", call.name}, {"arguments", arguments}})));
    } else {
      const Json* text = arguments.Find(action->argument);
      if (text == nullptr || !text->is_string() || arguments.AsObject().size() != 1) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("tagged:{} calls {} with the text \"{}\" and nothing else",
                                 tags_.name, call.name, action->argument));
      }
      HONE_RETURN_IF_ERROR(CheckHolds(text->AsString(), action->tag));
      out->Marker(action->body_open).Content(text->AsString()).Marker(action->body_close);
    }
    out->Marker(Close(action->tag));
    return {};
  }

  // --- parsing -----------------------------------------------------------------------------------

  // Finds opening tags from left to right. Where each tag stands next is remembered, so that a text
  // is searched once for each.
  class TagFinder {
   public:
    TagFinder(const Tagged& tagged, std::string_view text) : text_(text) {
      const TagSet& tags = tagged.tags_;
      if (!tags.think.empty()) candidates_.push_back({Open(tags.think), {Tag::kThink, 0}});
      if (!tags.answer.empty()) candidates_.push_back({Open(tags.answer), {Tag::kAnswer, 0}});
      for (const ActionTag& action : tags.actions) {
        candidates_.push_back({Open(action.tag), {Tag::kAction, 0, &action}});
      }
      for (Candidate& candidate : candidates_) Seek(&candidate, 0);
    }

    // The first at or after `from`, which only grows; at == text.size() when there is none.
    Tag Next(size_t from) {
      Tag first{Tag::kAction, text_.size()};
      for (Candidate& candidate : candidates_) {
        if (candidate.next.at < from) Seek(&candidate, from);
        if (candidate.next.at < first.at) first = candidate.next;
      }
      return first;
    }

   private:
    struct Candidate {
      std::string tag;
      Tag next;
    };
    void Seek(Candidate* candidate, size_t from) const {
      candidate->next.at = std::min(text_.find(candidate->tag, from), text_.size());
    }

    std::string_view text_;
    std::vector<Candidate> candidates_;
  };

  void PlainText(std::string_view text, size_t begin, size_t end, ParsedTurn* parsed) const {
    const std::string_view plain = text.substr(begin, end - begin);
    if (Trim(plain).empty()) return;
    parsed->content += plain;
    // The beginning of a marker at the very end is reported as cut off, not as stray text.
    if (tags_.free_text || (end == text.size() && IsPartialMarker(plain))) return;
    parsed->faults.push_back(
        {FaultKind::kUnexpectedText, "text outside of the tags", {begin, end}});
  }

  bool IsPartialMarker(std::string_view plain) const {
    const std::string_view trimmed = TrimLeft(plain);
    return std::any_of(traits_.markers.begin(), traits_.markers.end(),
                       [&](const std::string& marker) {
                         return PartialSuffix(trimmed, marker) == trimmed.size();
                       });
  }

  // The text up to the closing tag and where to go on; a fault when it is not there.
  static std::optional<std::string_view> Enclosed(std::string_view text, size_t open,
                                                  const std::string& tag, size_t* next,
                                                  ParsedTurn* parsed) {
    const size_t begin = open + Open(tag).size(), close = text.find(Close(tag), begin);
    if (close == std::string_view::npos) {
      parsed->faults.push_back({FaultKind::kIncomplete,
                                fmt::format("{} is not closed", Open(tag)),
                                {open, text.size()}});
      *next = text.size();
      return std::nullopt;
    }
    *next = close + Close(tag).size();
    return text.substr(begin, close - begin);
  }

  size_t ReadThought(std::string_view text, size_t at, ParsedTurn* parsed) const {
    size_t next = 0;
    if (const auto thought = Enclosed(text, at, tags_.think, &next, parsed)) {
      if (!parsed->reasoning.empty()) parsed->reasoning += "\n";
      parsed->reasoning += Readable(Trim(*thought));
    }
    parsed->thoughts.push_back({at, next});  // also one that is not closed: it was thought
    return next;
  }

  size_t ReadAnswer(std::string_view text, size_t at, ParsedTurn* parsed) const {
    size_t next = 0;
    if (const auto answer = Enclosed(text, at, tags_.answer, &next, parsed)) {
      std::string_view inside = Trim(*answer);
      if (tags_.boxed) inside = LastBoxed(inside).value_or(inside);
      if (parsed->faults.empty()) parsed->answer = Readable(inside);
    }
    return next;
  }

  size_t ReadAction(std::string_view text, size_t at, const ActionTag& action,
                    ParsedTurn* parsed) const {
    if (action.body == ActionBody::kMarker) {
      const size_t next = at + Open(action.tag).size();
      parsed->calls.push_back({action.tool, Json::Object(), {at, next}});
      return next;
    }
    size_t next = 0;
    if (action.body == ActionBody::kJson) {
      ReadNamedCall(text, at, Open(action.tag), Close(action.tag), &next, parsed);
      return next;
    }
    if (auto body = Enclosed(text, at, action.tag, &next, parsed)) {
      std::string_view argument = Trim(*body);
      if (const std::string_view fence = Trim(action.body_open);
          !fence.empty() && argument.starts_with(fence)) {
        argument = argument.substr(fence.size());
        if (argument.ends_with(Trim(action.body_close))) {
          argument.remove_suffix(Trim(action.body_close).size());
        }
        argument = Trim(argument, "\r\n");
      }
      parsed->calls.push_back(
          {action.tool, Json::Of({{action.argument, Readable(argument)}}), {at, next}});
    }
    return next;
  }

  TagSet tags_;
  Frame frame_;
  Spelling spelling_;
  DialectTraits traits_;
  std::vector<std::string> end_markers_;
};

}  // namespace

std::unique_ptr<Dialect> NewTagged(TagSet tags) {
  return std::make_unique<Tagged>(std::move(tags));
}

}  // namespace hone
