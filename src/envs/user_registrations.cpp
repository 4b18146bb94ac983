#include "envs/user_registrations.h"

#include "envs/agents.h"
#include "envs/command_env.h"
#include "envs/data_env.h"

namespace hone {
namespace {

Rules GeneralRules() {
  Rules rules;
  rules.budgets.turns = 20;
  return rules;
}

// The rest of the table, which is the same for both; `make` gives the environment itself.
EnvironmentOptions PlanWithFiles(
    RecipeTable* table,
    std::function<std::shared_ptr<const Environment>(std::shared_ptr<const Toolbox>)> make) {
  const Rules rules = ReadRules(table->Table("rules"), GeneralRules());
  const SplitFiles files = ReadSplitFiles(table);
  EnvironmentOptions environment{.files = files, .rules = rules};
  environment.make = [=](std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
    HONE_ASSIGN_OR_RETURN(auto tasks, LoadSplitFiles(files, *tools));
    return LoadedEnvironment{.environment = WithRules(make(tools), rules),
                             .tasks = std::move(tasks),
                             .gold_agent = NewPlanAgentFor,
                             .rules = rules};
  };
  return environment;
}

EnvironmentOptions ReadData(RecipeTable table, bool /*has_user*/) {
  DataOptions options;
  table.Read("name", &options.name, "of the environment");
  table.Read("system", &options.system, "system message of tasks that have none");
  table.Read("list_tools", &options.list_tools, "show the tools to the agent");
  table.Read("single_turn", &options.single_turn, "the first turn decides");
  std::string answer = "text";
  table.ReadChoice("answer", &answer, {"exact", "text", "reward"}, "when an answer is right");
  options.answer = answer == "exact"  ? AnswerRule::kExact
                   : answer == "text" ? AnswerRule::kText
                                      : AnswerRule::kReward;
  return PlanWithFiles(&table, [=](std::shared_ptr<const Toolbox> tools) {
    return NewDataEnvironment(std::move(tools), options);
  });
}

EnvironmentOptions ReadCommand(RecipeTable table, bool has_user) {
  CommandEnvOptions options;
  table.Read("name", &options.name, "of the environment");
  table.ReadCommand("command", &options.command, "the program and its arguments");
  table.Read("hidden_tools", &options.hidden_tools, "tools that the agent cannot see");
  if (has_user) options.hidden_tools.emplace_back(kUserTool);
  int64_t deadline = options.deadline.count();
  table.Read("deadline_ms", &deadline, "of one request", AtLeast(1));
  options.deadline = std::chrono::milliseconds(deadline);
  if (options.command.empty()) table.Problem("command", "names no program");
  return PlanWithFiles(&table, [=](std::shared_ptr<const Toolbox> tools) {
    return NewCommandEnvironment(std::move(tools), options);
  });
}

}  // namespace

RegisteredEnvironment RegisterData() { return {"data", {}, ReadData}; }
RegisteredEnvironment RegisterCommand() { return {"command", {.asks_user = true}, ReadCommand}; }

EnvironmentOptions NoEnvironment() {
  EnvironmentOptions environment{.kind = std::string(kNoEnvironment), .rules = GeneralRules()};
  environment.make = [rules = environment.rules](
                         std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
    if (tools == nullptr) tools = std::make_shared<const Toolbox>();
    return LoadedEnvironment{
        .environment = WithRules(NewDataEnvironment(std::move(tools), {}), rules),
        .tasks = NewListedTasks({}),
        .gold_agent = NewPlanAgentFor,
        .rules = rules};
  };
  return environment;
}

}  // namespace hone
