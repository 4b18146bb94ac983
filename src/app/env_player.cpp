#include "app/env_player.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "envs/plan.h"
#include "record/final_state.h"

namespace hone {
namespace {

std::string ReplyView(const PlayedTurn& turn, const Terminal& terminal) {
  std::string view;
  for (const ToolResult& result : turn.agent.results) {
    const bool ok = result.status == CallStatus::kOk;
    view += fmt::format("{} {}\n",
                        ok ? terminal.Green("result") : terminal.Red(CallStatusName(result.status)),
                        Printable(result.content));
  }
  for (const std::string& notice : turn.environment.notices) {
    view += fmt::format("{} {}\n", terminal.Yellow("notice"), Printable(notice));
  }
  if (!turn.environment.user.empty()) {
    view += fmt::format("{}   {}\n", terminal.Bold("user"), Printable(turn.environment.user));
  }
  return view;
}

class Person final : public Agent {
 public:
  Person(const Environment& environment, const Terminal& terminal, std::istream* in,
         std::ostream* out)
      : environment_(environment), terminal_(terminal), in_(in), out_(out) {}

  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override {
    if (turns.empty()) {
      ShowOpening(opening);
    } else {
      *out_ << ReplyView(turns.back(), terminal_);
    }
    *out_ << terminal_.Cyan("> ") << std::flush;
    std::string line;
    if (!std::getline(*in_, line)) {
      left_ = true;
      *out_ << "\n";
      return {};
    }
    return TurnFromLine(environment_, line);
  }

  bool left() const override { return left_; }

 private:
  void ShowOpening(const Opening& opening) {
    std::string names;
    for (const Toolbox::Tool& tool : environment_.tools()->tools()) {
      if (IsHidden(environment_.traits(), tool.spec.name)) continue;
      std::string parameters;
      if (const Json* properties = tool.spec.parameters.Find("properties")) {
        for (const auto& [name, schema] : properties->AsObject()) {
          parameters += (parameters.empty() ? "" : ", ") + name;
        }
      }
      names += fmt::format("  {}({})\n", tool.spec.name, parameters);
    }
    *out_
        << "You are the agent. Call a tool: NAME {\"argument\": ...}. Anything else is said to the "
           "user.\n"
        << names;
    for (const Json& message : opening.messages.AsArray()) {
      const Json* role = message.Find("role");
      const Json* content = message.Find("content");
      *out_ << fmt::format("{}   {}\n", terminal_.Bold(role == nullptr ? "" : PlainText(*role)),
                           content == nullptr ? "" : Printable(PlainText(*content)));
    }
  }

  const Environment& environment_;
  const Terminal terminal_;
  std::istream* in_;
  std::ostream* out_;
  bool left_ = false;
};

}  // namespace

std::unique_ptr<Agent> NewPerson(const Environment& environment, const Terminal& terminal,
                                 std::istream* in, std::ostream* out) {
  return std::make_unique<Person>(environment, terminal, in, out);
}

AgentTurn TurnFromLine(const Environment& environment, std::string_view line) {
  line = Trim(line);
  AgentTurn turn;
  if (line.empty()) return turn;
  const size_t blank = std::min(line.find_first_of(" \t{"), line.size());
  const std::string name(line.substr(0, blank));
  const std::string_view rest = TrimLeft(line.substr(blank));
  // A word and an object is a call even when there is no such tool: the agent is told so.
  const bool known =
      environment.tools()->Find(name) != nullptr && !IsHidden(environment.traits(), name);
  if (!rest.starts_with('{') && !(known && rest.empty())) {
    turn.answer = std::string(line);
    return turn;
  }
  const Result<Json> arguments =
      rest.empty() ? Result<Json>(Json(Json::Object())) : ParseJson(rest);
  if (!arguments.ok()) {
    turn.faults = {{FaultKind::kBadJson, arguments.error().message(), {}}};
  } else {
    turn.calls = {{name, *arguments, {}}};
  }
  return turn;
}

std::string EpisodeView(const Playthrough& played, const Terminal& terminal) {
  std::string view;
  for (const Json& message : played.opening.messages.AsArray()) {
    const Json *role = message.Find("role"), *content = message.Find("content");
    view += fmt::format("{}   {}\n", terminal.Bold(role == nullptr ? "" : PlainText(*role)),
                        content == nullptr ? "" : Printable(PlainText(*content)));
  }
  for (size_t i = 0; i < played.turns.size(); ++i) {
    const AgentTurn& agent = played.turns[i].agent;
    for (const Call& call : agent.calls) {
      view += fmt::format("{}   {} {}\n", terminal.Cyan("call"), Printable(call.name),
                          Printable(DumpJson(call.arguments, JsonStyle::kSpaced)));
    }
    for (const Fault& fault : agent.faults) {
      view += fmt::format("{}  {}\n", terminal.Red("fault"), Printable(fault.message));
    }
    if (agent.answer)
      view += fmt::format("{}  {}\n", terminal.Bold("agent"), Printable(*agent.answer));
    if (i + 1 < played.turns.size()) view += ReplyView(played.turns[i], terminal);
  }
  return view + EndView(played, terminal);
}

std::string EndView(const Playthrough& played, const Terminal& terminal) {
  std::string view;
  if (!played.turns.empty() && played.ending != Ending::kInterrupted) {
    view = ReplyView(played.turns.back(), terminal);
  }
  std::string_view word = "no verdict";
  if (FinalState(played.final_state).has_verdict()) word = played.success() ? "success" : "failure";
  view += fmt::format("{}    {}, {} calls, {}\n", terminal.Bold("end"), EndingName(played.ending),
                      played.CountCalls(),
                      word == "success" ? terminal.Green(word) : std::string(word));
  return view + fmt::format("{}  {}\n", terminal.Bold("state"), DumpJson(played.final_state));
}

}  // namespace hone
