#include "evaluate/suites/suite_environment.h"

#include <fmt/format.h>

#include "record/final_state.h"
#include "tools/builtin/calculator_tool.h"
#include "tools/builtin/python_tool.h"

namespace hone {
namespace {

constexpr std::string_view kNothingSaid =
    "Your turn held neither a call nor an answer that could be read. Make a call or answer.";

using Names = std::map<std::string, std::string>;

std::string ShownName(const Names& names, const std::string& real) {
  const auto found = names.find(real);
  return found == names.end() ? real : found->second;
}

// One tool under another name.
class RenamedToolkit final : public Toolkit {
 public:
  RenamedToolkit(std::shared_ptr<Toolkit> inner, const Names& names) : inner_(std::move(inner)) {
    for (ToolSpec spec : inner_->tools()) {
      const std::string real = spec.name;
      spec.name = ShownName(names, real);
      real_[spec.name] = real;
      specs_.push_back(std::move(spec));
    }
  }

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return inner_->sharing(); }
  int64_t sessions_at_once() const override { return inner_->sessions_at_once(); }
  Result<std::unique_ptr<Session>> Open(uint64_t seed) override { return inner_->Open(seed); }
  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    return inner_->Call(real_.at(std::string(tool)), arguments, session, limits);
  }

 private:
  const std::shared_ptr<Toolkit> inner_;
  std::map<std::string, std::string> real_;
  std::vector<ToolSpec> specs_;
};

Json CallsJson(const AgentTurn& turn) {
  // A call that cannot be read makes the whole unreadable.
  if (!turn.faults.empty() && !turn.answer) return Json();
  Json::Array calls;
  for (const Call& call : turn.calls) calls.push_back(Json::Of({{call.name, call.arguments}}));
  return calls;
}

class SuiteEpisode final : public Episode {
 public:
  SuiteEpisode(std::shared_ptr<const Suite> suite, const SuiteCase* one, Opening opening,
               int64_t max_turns)
      : suite_(std::move(suite)), one_(one), opening_(std::move(opening)), max_turns_(max_turns) {}

  const Opening& opening() const override { return opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    ++turns_;
    EnvironmentTurn reply;
    const bool answered = turn.answer.has_value() && turn.calls.empty();
    if (one_->plays_with.empty() || answered) {
      output_ = {turn.answer.value_or(""), CallsJson(turn)};
      reply.ending = Ending::kAnswered;
    } else if (turns_ >= max_turns_) {
      reply.ending = Ending::kTurnLimit;
    } else if (turn.calls.empty()) {
      reply.notices.emplace_back(kNothingSaid);
    }
    return reply;
  }

  Json final_state() const override {
    const Result<SuiteVerdict> judged = JudgeCase(*one_, output_);
    CHECK(judged.ok(), "a case of a suite whose gold was not looked at when it was read");
    return FinalStateWriter()
        .Verdict(judged->right)
        .Own("error_type", judged->error_type)
        .Own("text", output_.text)
        .Own("calls", output_.calls)
        .Take();
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    return std::unique_ptr<Episode>(std::make_unique<SuiteEpisode>(*this));
  }

 private:
  std::shared_ptr<const Suite> suite_;  // that the case is of
  const SuiteCase* one_;
  Opening opening_;
  int64_t max_turns_;
  int64_t turns_ = 0;
  SuiteOutput output_;
};

class SuiteEnvironment final : public Environment {
 public:
  SuiteEnvironment(std::shared_ptr<const Suite> suite, std::shared_ptr<const Toolbox> tools,
                   Names names, int64_t max_turns)
      : suite_(std::move(suite)),
        tools_(std::move(tools)),
        names_(std::move(names)),
        max_turns_(max_turns) {
    traits_.name = suite_->name;
    traits_.about = "cases of a suite";
    traits_.episodes_apart = true;
    for (const SuiteCase& one : suite_->cases) by_id_[one.id] = &one;
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    const auto found = by_id_.find(task.id);
    if (found == by_id_.end()) {
      return Error(ErrorCode::kNotFound, fmt::format("the suite has no case \"{}\"", task.id));
    }
    const SuiteCase& one = *found->second;
    Opening opening{.messages = one.messages, .tools = one.tools, .session_seed = seed};
    for (const std::string& real : one.plays_with) {
      const Toolbox::Tool* tool = tools_->Find(ShownName(names_, real));
      CHECK(tool != nullptr, "a case that plays with a tool which its suite does not name");
      opening.tools.AsArray().push_back(tool->spec.ToJson());
    }
    return std::unique_ptr<Episode>(
        std::make_unique<SuiteEpisode>(suite_, &one, std::move(opening), max_turns_));
  }

 private:
  const std::shared_ptr<const Suite> suite_;
  const std::shared_ptr<const Toolbox> tools_;
  const Names names_;
  const int64_t max_turns_;
  EnvironmentTraits traits_;
  std::map<std::string, const SuiteCase*> by_id_;
};

}  // namespace

Result<std::shared_ptr<const Toolbox>> SuiteTools(const Suite& suite, const Names& names) {
  std::vector<Toolbox::Kit> kits;
  for (const std::string& tool : suite.tools) {
    std::shared_ptr<Toolkit> made;
    if (tool == "python") {
      HONE_ASSIGN_OR_RETURN(made, NewPythonToolkit({}));
    } else {
      CHECK(tool == "calculator", "a suite that plays with a tool that is not of this program");
      HONE_ASSIGN_OR_RETURN(made, NewCalculatorToolkit({}));
    }
    kits.push_back({std::make_shared<RenamedToolkit>(std::move(made), names), {}});
  }
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of(std::move(kits)));
  return std::make_shared<const Toolbox>(std::move(toolbox));
}

std::shared_ptr<const Environment> NewSuiteEnvironment(std::shared_ptr<const Suite> suite,
                                                       std::shared_ptr<const Toolbox> tools,
                                                       const Names& names, int64_t max_turns) {
  return std::make_shared<SuiteEnvironment>(std::move(suite), std::move(tools), names, max_turns);
}

SuiteEnd SuiteEndOf(const Json& final_state) {
  SuiteEnd end;
  if (const Json* text = final_state.Find("text")) end.output.text = text->AsString();
  if (const Json* calls = final_state.Find("calls")) end.output.calls = *calls;
  end.verdict.right = FinalState(final_state).is_right().value_or(end.verdict.right);
  if (const Json* type = final_state.Find("error_type")) end.verdict.error_type = type->AsString();
  return end;
}

Task SuiteTask(const SuiteCase& one) {
  Task task;
  task.id = one.id;
  task.messages = one.messages;
  task.metadata = Json::Of({{"kind", one.category}});
  return task;
}

}  // namespace hone
