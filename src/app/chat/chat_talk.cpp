#include "app/chat/chat_talk.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "base/utf8.h"
#include "serve/turn_deltas.h"
#include "text/call_format.h"
#include "tools/sessions.h"

namespace hone {
namespace {

constexpr int kShownResult = 600;  // bytes

std::string FirstPart(std::string_view text) {
  if (text.size() <= kShownResult) return Printable(text);
  return fmt::format("{} … ({} bytes)", Printable(text.substr(0, kShownResult)), text.size());
}

}  // namespace

Talk::Talk(const TalkParts& parts, const TalkOptions& options, const Terminal& terminal,
           std::istream* in, std::ostream* out)
    : parts_(parts), options_(options), terminal_(terminal), in_(in), out_(out) {
  Forget();
}

Talk::~Talk() = default;

// A fresh conversation: nothing was said, and the tools begin anew.
void Talk::Forget() {
  sampler_ = parts_.policy->engine().NewSampler();
  sequence_ = -1;
  said_.clear();
  turns_ = 0;
  ++conversations_;
  if (parts_.environment != nullptr) {
    sessions_ =
        std::make_shared<Sessions>(parts_.environment->tools(), parts_.opening.session_seed);
  }
}

bool Talk::ReadLine(std::string_view prompt, bool remember, std::string* line) {
  if (options_.read) {
    *out_ << std::flush;
    std::optional<std::string> read = options_.read(prompt, remember);
    left_ = !read.has_value();
    *line = Trim(read.value_or(""));
    return !left_;
  }
  *out_ << terminal_.Bold(prompt) << std::flush;
  if (!std::getline(*in_, *line)) {
    *out_ << "\n";
    left_ = true;
    return false;
  }
  if (options_.echo) *out_ << Printable(*line) << "\n";
  *line = Trim(*line);
  return true;
}

void Talk::ShowExamples() const {
  if (parts_.examples.empty()) {
    *out_ << "there are no examples: say something\n";
    return;
  }
  *out_ << "say something, for example (or its number):\n";
  for (size_t i = 0; i < parts_.examples.size(); ++i) {
    *out_ << fmt::format("  {}  {}\n", i + 1, terminal_.Dim(Printable(parts_.examples[i])));
  }
}

void Talk::ShowTools() const {
  if (parts_.environment == nullptr) {
    *out_ << "it has no tools; give it some with --env\n";
    return;
  }
  for (const Toolbox::Tool& tool : parts_.environment->tools()->tools()) {
    if (IsHidden(parts_.environment->traits(), tool.spec.name)) continue;
    *out_ << fmt::format("  {} {} {}\n", terminal_.Cyan(Fitted(tool.spec.name, 18)),
                         Fitted(EffectName(tool.spec.effect), 12),
                         Printable(tool.spec.description));
  }
}

bool Talk::Command(const std::string& line) {
  if (line == "/quit" || line == "/exit") {
    left_ = true;
  } else if (line == "/examples") {
    ShowExamples();
  } else if (line == "/tools") {
    ShowTools();
  } else if (line == "/new") {
    Forget();
    *out_ << "a new conversation\n";
  } else if (line.starts_with("/")) {
    *out_ << "there are /examples, /tools, /new and /quit\n";
  } else {
    return false;
  }
  return true;
}

Result<void> Talk::Run() {
  ShowExamples();
  std::string line;
  while (!left_ && ReadLine("you> ", true, &line)) {
    if (line.empty() || Command(line)) continue;
    size_t number = 0;
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (failed == std::errc() && end == line.data() + line.size() && number >= 1 &&
        number <= parts_.examples.size()) {
      line = parts_.examples[number - 1];
      *out_ << terminal_.Dim(Printable(line)) << "\n";
    }
    HONE_RETURN_IF_ERROR(Say(line));
  }
  return {};
}

// What the person says, and all that the agent does about it.
Result<void> Talk::Say(const std::string& text) {
  const TurnCodec& codec = parts_.policy->codec();
  said_.push_back(Json::Of({{"role", "user"}, {"content", text}}));
  if (sequence_ < 0) {
    HONE_RETURN_IF_ERROR(Render());
  } else {
    HONE_RETURN_IF_ERROR(Hear({}, {.user = text}));
  }
  for (int64_t turn = 0; turn < options_.max_turns && !left_; ++turn) {
    const auto length = static_cast<int64_t>(sampler_->Tokens(sequence_).size());
    if (length >= parts_.policy->engine().config().max_positions) {
      *out_ << terminal_.Yellow("the conversation is as long as the model can read: /new") << "\n";
      return {};
    }
    HONE_ASSIGN_OR_RETURN(last_, Draw());
    AgentTurn agent = codec.ReadTurn(TurnEnd::kUnknown, &last_);
    if (!agent.thought.empty()) {
      *out_ << terminal_.Styled("2;3", "thinks> " + Printable(agent.thought)) << "\n";
    }
    for (const Fault& fault : agent.faults) {
      *out_ << terminal_.Red("cannot be read: ") << Printable(fault.message) << "\n";
    }
    if (agent.answer) {
      *out_ << terminal_.Bold("agent> ") << Printable(*agent.answer) << "\n";
      const std::string note = NoteOnUnreadCall(*agent.answer);
      if (!note.empty()) *out_ << terminal_.Yellow(Printable(note)) << "\n";
    }
    if (agent.calls.empty()) {
      Remember(agent);
      return {};
    }
    agent.results = Carry(agent.calls);
    if (left_) return {};
    Remember(agent);
    HONE_RETURN_IF_ERROR(Hear(agent, {}));
  }
  if (left_) return {};
  *out_ << terminal_.Yellow("it goes on and on; say something") << "\n";
  // The model was asked to speak already: what is said next belongs in the place of that.
  sequence_ = -1;
  return {};
}

Result<void> Talk::Hear(const AgentTurn& agent, const EnvironmentTurn& environment) {
  const Result<Node> node = parts_.policy->codec().After(last_, agent, environment);
  if (!node.ok()) {
    if (node.error().code() != ErrorCode::kUnsupported) return node.error();
    return Render();
  }
  sampler_->Append(sequence_, node->tokens);
  return {};
}

Result<void> Talk::Render() {
  Opening opening = parts_.opening;
  Json::Array& messages = opening.messages.AsArray();
  messages.insert(messages.end(), said_.begin(), said_.end());
  HONE_ASSIGN_OR_RETURN(const std::vector<Node> prompt, parts_.policy->codec().Prompt(opening));
  std::vector<TokenId> tokens;
  for (const Node& node : prompt) {
    tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
  }
  sampler_ = parts_.policy->engine().NewSampler();
  sequence_ = sampler_->Start(std::move(tokens));
  return {};
}

// The agent's turn and what came back, as messages.
void Talk::Remember(const AgentTurn& agent) {
  const TurnCodec& codec = parts_.policy->codec();
  const std::string bytes = codec.tokenizer().BytesOf(last_.tokens);
  const ParsedTurn parsed = codec.dialect().Parse(bytes, TurnEnd::kUnknown);
  Json message = Json::Of({{"role", "assistant"}});
  // What cannot be read is what it said.
  const bool unread = !parsed.answer && parsed.calls.empty() && parsed.content.empty();
  message.Set("content", unread ? Utf8Lossy(BeforeStop(bytes, codec.dialect().traits().stops))
                                : parsed.answer.value_or(parsed.content));
  if (!parsed.reasoning.empty()) message.Set("reasoning_content", parsed.reasoning);
  Json::Array calls;
  for (const Call& call : agent.calls) {
    calls.push_back(
        Json::Of({{"type", "function"},
                  {"function", Json::Of({{"name", call.name}, {"arguments", call.arguments}})}}));
  }
  if (!calls.empty()) message.Set("tool_calls", std::move(calls));
  said_.push_back(std::move(message));
  for (const ToolResult& result : agent.results) {
    said_.push_back(Json::Of({{"role", "tool"},
                              {"name", agent.calls[static_cast<size_t>(result.call)].name},
                              {"content", result.content}}));
  }
}

Result<Node> Talk::Draw() {
  const Rng stream = Rng(options_.seed)
                         .Split("chat")
                         .Split(static_cast<uint64_t>(conversations_))
                         .Split(static_cast<uint64_t>(turns_++));
  const std::vector<TokenId> before = sampler_->Tokens(sequence_);
  HONE_RETURN_IF_ERROR(sampler_->Generate(sequence_, parts_.policy->RequestFor(stream, before)));
  while (sampler_->Step().empty()) {
  }
  return parts_.policy->NodeOf(sampler_->Take(sequence_), before);
}

// Whether a call may be carried out. What cannot be undone is the person's decision.
bool Talk::MayCall(const Call& call) {
  if (parts_.environment == nullptr || !options_.ask) return true;
  const Toolbox::Tool* tool = parts_.environment->tools()->Find(call.name);
  if (tool == nullptr || tool->spec.effect != Effect::kIrreversible) return true;
  std::string line;
  return ReadLine("this cannot be undone. Do it? [y/N] ", false, &line) &&
         (line == "y" || line == "yes");
}

std::vector<ToolResult> Talk::Carry(const std::vector<Call>& calls) {
  std::vector<ToolResult> results(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    *out_ << fmt::format("{} {} {}\n", terminal_.Cyan("→"), terminal_.Cyan(Printable(call.name)),
                         Printable(DumpJson(call.arguments, JsonStyle::kSpaced)));
    ToolResult& result = results[i];
    result.call = static_cast<int32_t>(i);
    const bool hidden =
        parts_.environment == nullptr || IsHidden(parts_.environment->traits(), call.name);
    if (hidden) {
      result.status = CallStatus::kUnknownTool;
      result.blame = Blame::kAgent;
      result.content = fmt::format("there is no tool \"{}\"", call.name);
    } else if (!MayCall(call)) {
      result.status = CallStatus::kDenied;
      result.content = "the user does not want this to be done";
    } else {
      const CallIdentity identity{"chat", fmt::format("conversation-{}", conversations_), "0",
                                  static_cast<int32_t>(turns_), static_cast<int32_t>(i)};
      const uint64_t ticket =
          parts_.executor->Submit({identity, call.name, call.arguments, sessions_});
      while (true) {
        std::optional<CallOutcome> outcome = parts_.executor->Next();
        CHECK(outcome.has_value(), "an executor that gives no outcome for a call under way");
        if (outcome->ticket != ticket) continue;
        result = std::move(outcome->result);
        result.call = static_cast<int32_t>(i);
        break;
      }
    }
    const bool fine = result.status == CallStatus::kOk;
    *out_ << fmt::format("{} {}{}\n", fine ? terminal_.Green("←") : terminal_.Red("←"),
                         fine ? "" : fmt::format("{}: ", CallStatusName(result.status)),
                         FirstPart(result.content));
  }
  return results;
}

}  // namespace hone
