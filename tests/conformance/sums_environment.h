#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>

#include "envs/agents.h"
#include "envs/registration.h"
#include "record/final_state.h"
#include "tools/builtin/calculator_tool.h"

// A whole environment on a page, to be copied (docs/howto/add-an-environment.md): two numbers are
// to be added, with a calculator at hand.

namespace hone::sums {

class Sum final : public Episode {
 public:
  Sum(Opening opening, std::string gold)
      : opening_(std::make_shared<const Opening>(std::move(opening))), gold_(std::move(gold)) {}

  const Opening& opening() const override { return *opening_; }

  EnvironmentTurn Step(const AgentTurn& turn) override {
    EnvironmentTurn reply;
    answer_ = turn.answer;
    if (answer_) reply.ending = Ending::kAnswered;
    return reply;
  }

  Json final_state() const override {
    return FinalStateWriter()
        .Verdict(answer_ == gold_)
        .Answer(answer_ ? Json(*answer_) : Json())
        .Take();
  }

  Result<std::unique_ptr<Episode>> Clone() const override {
    return std::unique_ptr<Episode>(std::make_unique<Sum>(*this));
  }

 private:
  std::shared_ptr<const Opening> opening_;  // shared by clones, which never change it
  std::string gold_;
  std::optional<std::string> answer_;
};

class Sums final : public Environment {
 public:
  explicit Sums(std::shared_ptr<const Toolbox> tools) : tools_(std::move(tools)) {}

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return tools_; }

  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    Opening opening;
    HONE_ASSIGN_OR_RETURN(opening.messages, MessagesFor(task));
    opening.tools = VisibleTools(*this);
    opening.session_seed = seed;
    if (!task.answer.is_string()) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("task \"{}\" has no answer", task.id));
    }
    return std::unique_ptr<Episode>(
        std::make_unique<Sum>(std::move(opening), task.answer.AsString()));
  }

 private:
  const std::shared_ptr<const Toolbox> tools_;
  const EnvironmentTraits traits_{
      .name = "sums", .about = "two numbers to be added", .episodes_apart = true};
};

// Tasks without end: numbers up to `largest`, by lot.
class SumTasks final : public TaskSource {
 public:
  explicit SumTasks(int64_t largest) : largest_(largest) {}

  std::optional<uint64_t> count(Split) const override { return std::nullopt; }

  Task Make(Split split, uint64_t index) const override {
    Rng rng = Rng(1).Split("sums").Split(SplitName(split)).Split(index);
    const auto number = [&] { return rng.Below(static_cast<uint64_t>(largest_) + 1); };
    const uint64_t a = number(), b = number();
    const Json call =
        Json::Of({{"name", "calculator"},
                  {"arguments", Json::Of({{"expression", fmt::format("{}+{}", a, b)}})}});
    Task task;
    task.id = fmt::format("sums-{}-{}", SplitName(split), index);
    task.messages = Json::Array{
        Json::Of({{"role", "user"}, {"content", fmt::format("What is {} plus {}?", a, b)}})};
    task.answer = std::to_string(a + b);
    task.reward = Json::Of({{"calls", Json::Array{call}}});
    task.metadata =
        Json::Of({{"plan", Json::Of({{"calls", Json::Array{call}}, {"answer", task.answer}})}});
    return task;
  }

 private:
  const int64_t largest_;
};

inline EnvironmentOptions ReadSums(RecipeTable table, bool /*has_user*/) {
  int64_t largest = 99;
  table.Table("tasks").Read("largest", &largest, "number to be added", AtLeast(1));
  const Rules rules = ReadRules(table.Table("rules"), {});
  EnvironmentOptions environment{.rules = rules};
  environment.make = [=](const std::shared_ptr<const Toolbox>&) -> Result<LoadedEnvironment> {
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<Toolkit> calculator, NewCalculatorToolkit({}));
    HONE_ASSIGN_OR_RETURN(Toolbox tools, Toolbox::Of({{std::move(calculator), {}}}));
    return LoadedEnvironment{
        .environment = WithRules(
            std::make_shared<Sums>(std::make_shared<const Toolbox>(std::move(tools))), rules),
        .tasks = std::make_shared<SumTasks>(largest),
        .gold_agent = NewPlanAgentFor,
        .rules = rules};
  };
  return environment;
}

// Its line in the table.
inline RegisteredEnvironment Register() { return {"sums", {.in_process = true}, ReadSums}; }

}  // namespace hone::sums
