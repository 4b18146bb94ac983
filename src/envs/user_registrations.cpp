#include "envs/user_registrations.h"

#include "envs/agents.h"
#include "envs/command_env.h"
#include "envs/data_env.h"
#include "envs/openenv/openenv_env.h"

namespace hone {
namespace {

Rules GeneralRules() {
  Rules rules;
  rules.budgets.turns = 20;
  return rules;
}

// The rest of the table, which is the same for both; `make` gives the environment itself.
EnvironmentOptions PlanWithFiles(
    RecipeTable* table, const std::string& name,
    std::function<std::shared_ptr<const Environment>(std::shared_ptr<const Toolbox>)> make) {
  const Rules rules = ReadRules(table->Table("rules"), GeneralRules());
  const SplitFiles files = ReadSplitFiles(table);
  const TaskKeys keys = ReadTaskKeys(table->Table("keys"));
  EnvironmentOptions environment{.name = name, .files = files, .rules = rules};
  environment.make = [=](std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
    HONE_ASSIGN_OR_RETURN(auto tasks, LoadSplitFiles(files, keys, *tools));
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
  return PlanWithFiles(&table, options.name, [=](std::shared_ptr<const Toolbox> tools) {
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
  table.Read("processes", &options.processes, "that episodes are spread over", Between(1, 1024));
  if (options.command.empty()) table.Problem("command", "names no program");
  return PlanWithFiles(&table, options.name, [=](std::shared_ptr<const Toolbox> tools) {
    return NewCommandEnvironment(std::move(tools), options);
  });
}

EnvironmentOptions ReadOpenEnv(RecipeTable table, bool has_user) {
  OpenEnvOptions options;
  table.Read("name", &options.name, "of the environment");
  table.Read("url", &options.url, "of the server");
  table.ReadChoice("transport", &options.transport, {"websocket", "http"}, "how it is asked");
  table.Read("action", &options.action, "member that an answer becomes; empty: by its schema");
  table.Read("observation", &options.observation, "member that is shown; empty: its only text");
  table.ReadChoice("reward", &options.reward, {"sum", "last"}, "which of the steps' rewards");
  table.Read("reward_low", &options.reward_low, "a reward that is worth nothing");
  table.Read("reward_high", &options.reward_high, "a reward that is worth all");
  table.Read("episodes", &options.episodes, "that the server has at a time", Between(1, 1024));
  table.Read("hidden_tools", &options.hidden_tools, "tools that the agent cannot see");
  if (has_user) options.hidden_tools.emplace_back(kUserTool);
  int64_t deadline = options.deadline.count();
  table.Read("deadline_ms", &deadline, "of one request", AtLeast(1));
  options.deadline = std::chrono::milliseconds(deadline);
  while (options.url.ends_with('/')) options.url.pop_back();
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    table.Problem("url", "wants the address of an OpenEnv server: \"http://127.0.0.1:8000\"");
  }
  if (options.reward_low >= options.reward_high) {
    table.Problem("reward_high", "must be larger than reward_low");
  }
  return PlanWithFiles(&table, options.name, [=](std::shared_ptr<const Toolbox> tools) {
    return NewOpenEnvEnvironment(std::move(tools), options);
  });
}

}  // namespace

RegisteredEnvironment RegisterOpenEnv() { return {"openenv", {}, ReadOpenEnv}; }
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
