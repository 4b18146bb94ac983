#include "envs/environments.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/nearest.h"
#include "envs/agents.h"
#include "envs/command_env.h"
#include "envs/data_env.h"
#include "envs/desk/desk.h"
#include "envs/desk/tasks.h"
#include "envs/desk/teacher.h"
#include "envs/plan.h"
#include "envs/service/service.h"
#include "envs/service/tasks.h"
#include "envs/service/teacher.h"
#include "envs/task_file.h"

namespace hone {
namespace {

constexpr std::string_view kUserTool = "user";

Result<std::unique_ptr<Agent>> PlanAgentFor(const Task& task) {
  HONE_ASSIGN_OR_RETURN(std::optional<Plan> plan, PlanOf(task));
  if (!plan) {
    return Error(ErrorCode::kNotFound, fmt::format("task \"{}\" has no plan", task.id));
  }
  return NewPlanAgent(std::move(*plan));
}

// Environments that bring their own tools.
Result<void> TakesNone(const std::shared_ptr<const Toolbox>& tools, std::string_view environment,
                       std::string_view but = "") {
  if (tools == nullptr) return {};
  for (const Toolbox::Tool& tool : tools->tools()) {
    if (tool.spec.name == but) continue;
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} brings its own tools and has no use for \"{}\"; take [[tools]] out "
                    "of the recipe",
                    environment, tool.spec.name));
  }
  return {};
}

Result<LoadedEnvironment> MakeDesk(const desk::DeskOptions& options, const desk::TaskOptions& tasks,
                                   const Rules& rules) {
  HONE_ASSIGN_OR_RETURN(auto inner, desk::NewDesk(options));
  return LoadedEnvironment{WithRules(std::move(inner), rules), desk::NewTaskSource(tasks),
                           PlanAgentFor, rules, options.quiz ? nullptr : desk::NewTeacher};
}

Result<LoadedEnvironment> MakeService(const service::ServiceOptions& options,
                                      const service::TaskOptions& tasks, const Rules& rules) {
  HONE_ASSIGN_OR_RETURN(auto inner, service::NewService(options));
  return LoadedEnvironment{WithRules(std::move(inner), rules), service::NewTaskSource(tasks),
                           service::NewClerk, rules, service::NewTeacher};
}

// A quiz is about one call at most: it has no second turn.
desk::TaskOptions QuizTasks(desk::TaskOptions options) {
  options.max_calls = std::min<int64_t>(options.max_calls, 1);
  return options;
}

EnvironmentPlan ReadDesk(RecipeTable table, bool quiz) {
  desk::DeskOptions options;
  options.quiz = quiz;
  table.Read("list_tools", &options.list_tools, "show the tools to the agent");
  desk::TaskOptions tasks = desk::ReadTaskOptions(table.Table("tasks"));
  if (quiz) tasks = QuizTasks(tasks);
  const Rules rules = ReadRules(table.Table("rules"), desk::DeskRules());
  return {quiz ? "quiz" : "desk",
          [=](std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
            HONE_RETURN_IF_ERROR(TakesNone(tools, quiz ? "quiz" : "desk"));
            return MakeDesk(options, tasks, rules);
          },
          {},
          rules};
}

EnvironmentPlan ReadService(RecipeTable table) {
  service::ServiceOptions options;
  table.Read("list_tools", &options.list_tools, "show the tools to the agent");
  table.Read("show_policy", &options.show_policy, "and the rules that it must obey");
  const service::TaskOptions tasks = service::ReadTaskOptions(table.Table("tasks"));
  const Rules rules = ReadRules(table.Table("rules"), service::ServiceRules());
  return {"service",
          [=](std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
            HONE_RETURN_IF_ERROR(TakesNone(tools, "service", kUserTool));
            service::ServiceOptions with_user = options;
            if (const Toolbox::Tool* user = tools ? tools->Find(kUserTool) : nullptr) {
              with_user.user = tools->kits()[user->kit].toolkit;
              with_user.user_limits = tools->kits()[user->kit].limits;
            }
            return MakeService(with_user, tasks, rules);
          },
          {},
          rules};
}

std::vector<std::pair<Split, std::string>> ReadFiles(RecipeTable* table) {
  std::vector<std::pair<Split, std::string>> files;
  for (const Split split : kAllSplits) {
    std::string key(SplitName(split));
    for (char& c : key) c = c == '-' ? '_' : c;
    std::string file;
    table->Read(key, &file, "task file of this split (JSON Lines)");
    if (!file.empty()) files.emplace_back(split, file);
  }
  if (files.empty()) table->Problem("train", "names no task file; write train = \"tasks.jsonl\"");
  return files;
}

// All task files, or every problem in them.
Result<std::shared_ptr<const TaskSource>> LoadTasks(
    const std::vector<std::pair<Split, std::string>>& files, const Toolbox& tools) {
  std::map<Split, std::vector<Task>> tasks;
  std::string problems;
  for (const auto& [split, name] : files) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
    TaskFile file = ReadTaskFile(text, &tools);
    if (const Result<void> fine = NoProblems(file, name); !fine.ok()) {
      problems += (problems.empty() ? "" : "\n") + fine.error().message();
    }
    tasks[split] = std::move(file.tasks);
  }
  if (!problems.empty()) return Error(ErrorCode::kInvalidArgument, std::move(problems));
  return std::shared_ptr<const TaskSource>(NewListedTasks(std::move(tasks)));
}

Rules GeneralRules() {
  Rules rules;
  rules.budgets.turns = 20;
  return rules;
}

EnvironmentPlan ReadData(RecipeTable table) {
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
  const Rules rules = ReadRules(table.Table("rules"), GeneralRules());
  const auto files = ReadFiles(&table);
  const auto make = [=](std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
    HONE_ASSIGN_OR_RETURN(auto tasks, LoadTasks(files, *tools));
    return LoadedEnvironment{WithRules(NewDataEnvironment(tools, options), rules), std::move(tasks),
                             PlanAgentFor, rules, nullptr};
  };
  return {"data", make, files, rules};
}

EnvironmentPlan ReadCommand(RecipeTable table, bool has_user) {
  CommandEnvOptions options;
  table.Read("name", &options.name, "of the environment");
  table.Read("command", &options.command, "the program and its arguments");
  table.Read("hidden_tools", &options.hidden_tools, "tools that the agent cannot see");
  if (has_user) options.hidden_tools.emplace_back(kUserTool);
  int64_t deadline = options.deadline.count();
  table.Read("deadline_ms", &deadline, "of one request", AtLeast(1));
  options.deadline = std::chrono::milliseconds(deadline);
  if (options.command.empty()) table.Problem("command", "names no program");
  const Rules rules = ReadRules(table.Table("rules"), GeneralRules());
  const auto files = ReadFiles(&table);
  const auto make = [=](std::shared_ptr<const Toolbox> tools) -> Result<LoadedEnvironment> {
    HONE_ASSIGN_OR_RETURN(auto tasks, LoadTasks(files, *tools));
    return LoadedEnvironment{WithRules(NewCommandEnvironment(tools, options), rules),
                             std::move(tasks), PlanAgentFor, rules, nullptr};
  };
  return {"command", make, files, rules};
}

}  // namespace

std::vector<BuiltInEnvironment> BuiltInEnvironments() {
  std::vector<BuiltInEnvironment> all;
  for (const char* name : {"desk", "quiz", "service"}) {
    const EnvironmentTraits traits = NewBuiltIn(name).value().environment->traits();
    all.push_back({traits.name, traits.kind, traits.about});
  }
  return all;
}

Result<LoadedEnvironment> NewBuiltIn(std::string_view name) {
  if (name == "desk") return MakeDesk({}, {}, desk::DeskRules());
  if (name == "quiz") return MakeDesk({.quiz = true}, QuizTasks({}), desk::DeskRules());
  if (name == "service") return MakeService({}, {}, service::ServiceRules());
  return Error(ErrorCode::kNotFound,
               fmt::format("no environment \"{}\"{}; there are desk, quiz and service, or a recipe "
                           "(a .toml file)",
                           name, DidYouMean(name, {"desk", "quiz", "service"})));
}

EnvironmentPlan ReadEnvironment(RecipeTable root) {
  RecipeTable table = root.Table("environment");
  std::string kind = "data";
  table.ReadChoice("kind", &kind, {"desk", "quiz", "service", "data", "command"}, "of environment");
  const bool has_user = root.Has("user");
  if (has_user && kind != "service" && kind != "command") {
    root.Problem("user",
                 fmt::format("nobody asks the user in {}; only service and command do", kind));
  }
  if (kind == "desk" || kind == "quiz") return ReadDesk(table, kind == "quiz");
  if (kind == "service") return ReadService(table);
  return kind == "command" ? ReadCommand(table, has_user) : ReadData(table);
}

}  // namespace hone
