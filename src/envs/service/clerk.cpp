// The agent that plays a service task as its plan says.

#include <fmt/format.h>

#include "envs/agents.h"
#include "envs/plan.h"
#include "envs/service/service.h"
#include "envs/service/shop.h"
#include "envs/service/user.h"

namespace hone::service {
namespace {

class Clerk final : public Agent {
 public:
  Clerk(Plan plan, Script script) : plan_(std::move(plan)), script_(std::move(script)) {
    // Finding the customer comes before the first goal's calls.
    size_t end = 1;
    for (const Goal& goal : script_.goals) goal_ends_.push_back(end += goal.calls);
  }

  AgentTurn Act(const Opening&, const std::vector<PlayedTurn>& turns) override {
    if (turns.empty()) return Says("Hello. What is your email?");
    if (called_) {
      called_ = false;
      const ToolResult& result = turns.back().agent.results[0];
      const Result<Json> value = ParseJson(result.content);
      stuck_ = result.status != CallStatus::kOk || !value.ok();
      if (!stuck_) results_.emplace_back(*value);
    }
    if (stuck_) return Says("Sorry, it cannot be done.");
    if (goal_ >= goal_ends_.size()) return Says("Is there anything else?");
    if (results_.size() == goal_ends_[goal_]) return FinishGoal();
    const auto call = ResolveCall(plan_, results_.size(), results_);
    if (!call.ok() || !*call) return Says("Sorry, it cannot be done.");
    const bool yes = turns.back().environment.user.starts_with("Yes");
    if (IsWrite((*call)->name) && !(asked_ && yes)) {
      asked_ = true;
      return Says(fmt::format("Shall I do this: {} {}?", (*call)->name,
                              DumpJson((*call)->arguments, JsonStyle::kSpaced)));
    }
    asked_ = false;
    called_ = true;
    AgentTurn turn;
    turn.calls = {**call};
    return turn;
  }

 private:
  // Tells what is to be told of this goal.
  AgentTurn FinishGoal() {
    std::string told;
    for (const int64_t fact : script_.goals[goal_].facts) {
      Plan said;
      said.calls = plan_.calls;
      said.answers = {{plan_.outputs[static_cast<size_t>(fact)], {}}};
      const auto value = ResolveAnswer(said, results_);
      if (value.ok() && *value) told += fmt::format(" It is {}.", **value);
    }
    ++goal_;
    return Says(fmt::format("That is all I can do.{} Is there anything else?", told));
  }

  const Plan plan_;
  const Script script_;
  std::vector<size_t> goal_ends_;  // in the plan's calls
  PlanResults results_;
  size_t goal_ = 0;
  bool called_ = false;
  bool stuck_ = false;  // a call failed: the rest of the plan cannot be carried out
  bool asked_ = false;
};

}  // namespace

Result<std::unique_ptr<Agent>> NewClerk(const Task& task) {
  HONE_ASSIGN_OR_RETURN(std::optional<Plan> plan, PlanOf(task));
  const Json* user = task.metadata.Find("user");
  if (!plan || user == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("task \"{}\" has no plan or no customer", task.id));
  }
  HONE_ASSIGN_OR_RETURN(Script script, ScriptFromJson(*user));
  return std::unique_ptr<Agent>(std::make_unique<Clerk>(std::move(*plan), std::move(script)));
}

}  // namespace hone::service
