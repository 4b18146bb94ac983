// hone env list, show, play, tasks, stats, check.

#include <algorithm>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/env_player.h"
#include "app/report.h"
#include "base/file.h"
#include "envs/desk/teacher.h"
#include "envs/environments.h"
#include "envs/task_file.h"
#include "record/record_json.h"
#include "tools/modes.h"

namespace hone {
namespace {

struct EnvArguments {
  std::string name, split = "train", file, out, environment;
  uint64_t index = 0, seed = 1, count = 1000;
  std::vector<std::string> overrides;
  std::optional<double> teacher_error;
};

// The tools that a recipe names.
Result<std::shared_ptr<const Toolbox>> ToolsOf(RecipeTable root) {
  if (root.Has("tools")) root.Problem("tools", "tools of recipes are not read by this program yet");
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of({}));
  return std::make_shared<const Toolbox>(std::move(toolbox));
}

Result<LoadedEnvironment> LoadRecipe(const EnvArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(arguments.name));
  for (const std::string& assignment : arguments.overrides) recipe.Override(assignment);
  const EnvironmentPlan plan = ReadEnvironment(recipe.Root());
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<const Toolbox> tools, ToolsOf(recipe.Root()));
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return plan.make(std::move(tools));
}

// A recipe, or one that comes with the program; "environment.tasks.hard=true" and the like change
// either.
Result<LoadedEnvironment> Load(const EnvArguments& arguments) {
  if (arguments.name.ends_with(".toml")) return LoadRecipe(arguments);
  if (arguments.overrides.empty()) return NewBuiltIn(arguments.name);
  HONE_RETURN_IF_ERROR([&]() -> Result<void> {
    const Result<LoadedEnvironment> known = NewBuiltIn(arguments.name);
    return known.ok() ? Result<void>() : Result<void>(known.error());
  }());
  HONE_ASSIGN_OR_RETURN(
      Recipe recipe,
      Recipe::Parse(fmt::format("[environment]\nkind = \"{}\"\n", arguments.name), arguments.name));
  for (const std::string& assignment : arguments.overrides) recipe.Override(assignment);
  const EnvironmentPlan plan = ReadEnvironment(recipe.Root());
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return plan.make(nullptr);
}

Result<Split> SplitOf(const EnvArguments& arguments, const LoadedEnvironment& loaded) {
  HONE_ASSIGN_OR_RETURN(const Split split, SplitFromName(arguments.split));
  const std::optional<uint64_t> count = loaded.tasks->count(split);
  if (count && *count == 0) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no tasks in {}", arguments.name, arguments.split));
  }
  return split;
}

Result<Task> TaskOf(const EnvArguments& arguments, const LoadedEnvironment& loaded) {
  HONE_ASSIGN_OR_RETURN(const Split split, SplitOf(arguments, loaded));
  const std::optional<uint64_t> count = loaded.tasks->count(split);
  if (count && arguments.index >= *count) {
    return Error(ErrorCode::kNotFound, fmt::format("there is no task {}; {} has {}, from 0",
                                                   arguments.index, arguments.split, *count));
  }
  return loaded.tasks->Make(split, arguments.index);
}

Result<std::string> List(bool json) {
  Json::Array array;
  std::string view;
  for (const BuiltInEnvironment& one : BuiltInEnvironments()) {
    array.push_back(Json::Of(
        {{"name", one.name}, {"kind", EnvironmentKindName(one.kind)}, {"about", one.about}}));
    view += fmt::format("{:<9}{:<13}{}\n", one.name, EnvironmentKindName(one.kind), one.about);
  }
  return json ? DumpJson(array) + "\n" : view;
}

std::string LimitText(const Rules& rules) {
  std::string text;
  const auto add = [&](std::string_view what, const std::optional<int64_t>& limit) {
    if (limit) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", *limit, what);
  };
  add("turns", rules.budgets.turns);
  add("calls", rules.budgets.calls);
  add("tokens", rules.budgets.tokens);
  add("tokens of context", rules.budgets.context_tokens);
  if (rules.budgets.money) text += fmt::format(", money {}", *rules.budgets.money);
  return text.empty() ? "none" : text;
}

Result<std::string> Show(const EnvArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, Load(arguments));
  HONE_ASSIGN_OR_RETURN(const Task task, TaskOf(arguments, loaded));
  const Environment& environment = *loaded.environment;
  const EnvironmentTraits& traits = environment.traits();
  HONE_ASSIGN_OR_RETURN(const auto episode, environment.Open(task, arguments.seed));
  if (json) {
    return DumpJson(Json::Of({{"name", traits.name},
                              {"kind", EnvironmentKindName(traits.kind)},
                              {"about", traits.about},
                              {"tools", VisibleTools(environment)},
                              {"messages", episode->opening().messages},
                              {"task", TaskToJson(task)}})) +
           "\n";
  }
  const Terminal terminal = Terminal::Of(stdout);
  std::string view = fmt::format("{} ({}): {}\nbudgets: {}\n", terminal.Bold(traits.name),
                                 EnvironmentKindName(traits.kind), Printable(traits.about),
                                 LimitText(loaded.rules));
  for (const Toolbox::Tool& tool : environment.tools()->tools()) {
    if (IsHidden(traits, tool.spec.name)) continue;
    view += fmt::format("  {:<15}{:<13}{}\n", tool.spec.name, EffectName(tool.spec.effect),
                        Printable(tool.spec.description));
  }
  view += fmt::format("\n{} {}\n", terminal.Bold("task"), Printable(task.id));
  for (const Json& message : episode->opening().messages.AsArray()) {
    const Json* role = message.Find("role");
    const Json* content = message.Find("content");
    view += fmt::format("{}: {}\n", role == nullptr ? "" : PlainText(*role),
                        content == nullptr ? "" : Printable(PlainText(*content)));
  }
  if (const Json* plan = task.metadata.Find("plan")) {
    view += fmt::format("plan: {}\n", Printable(DumpJson(*plan, JsonStyle::kSpaced)));
  }
  return view + fmt::format("answer: {}\n", Printable(DumpJson(task.answer)));
}

// An executor with the real tools.
struct LiveTools {
  explicit LiveTools(const Environment& environment) : timeline(NewRealTimeline()) {
    executor = std::make_unique<Executor>(
        OptionsFor({}, *environment.tools(), timeline.get()).value(), timeline.get());
  }
  std::unique_ptr<Timeline> timeline;
  std::unique_ptr<Executor> executor;
};

Result<std::string> PlayHere(const EnvArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, Load(arguments));
  HONE_ASSIGN_OR_RETURN(const Task task, TaskOf(arguments, loaded));
  LiveTools tools(*loaded.environment);
  const Terminal terminal = Terminal::Of(stdout);
  // Programs get the end alone.
  std::ostream nowhere(nullptr);
  const auto person =
      NewPerson(*loaded.environment, terminal, &std::cin, json ? &nowhere : &std::cout);
  HONE_ASSIGN_OR_RETURN(const Playthrough played, Play(*loaded.environment, task, arguments.seed,
                                                       person.get(), tools.executor.get()));
  if (!json) return EndView(played, terminal);
  return DumpJson(Json::Of({{"ending", EndingName(played.ending)},
                            {"messages", MessagesOf(played)},
                            {"final_state", played.final_state}})) +
         "\n";
}

// How the teacher plays a task, as chat messages.
Result<Json> Demonstration(const EnvArguments& arguments, const LoadedEnvironment& loaded,
                           const Task& task, Executor* executor) {
  HONE_ASSIGN_OR_RETURN(const auto teacher,
                        desk::NewTeacher(task, *arguments.teacher_error,
                                         Rng(arguments.seed).Split("teacher").Split(task.id)));
  HONE_ASSIGN_OR_RETURN(const Playthrough played,
                        Play(*loaded.environment, task, arguments.seed, teacher.get(), executor));
  return Json::Of(
      {{"id", task.id}, {"messages", MessagesOf(played)}, {"success", played.success()}});
}

Result<std::string> WriteTasks(const EnvArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, Load(arguments));
  HONE_ASSIGN_OR_RETURN(const Split split, SplitOf(arguments, loaded));
  if (arguments.teacher_error && loaded.environment->traits().name != "desk") {
    return Error(ErrorCode::kUnsupported, "only the desk has a teacher");
  }
  LiveTools tools(*loaded.environment);
  const uint64_t end =
      std::min(arguments.index + arguments.count, loaded.tasks->count(split).value_or(UINT64_MAX));
  std::string lines;
  for (uint64_t i = arguments.index; i < end; ++i) {
    const Task task = loaded.tasks->Make(split, i);
    Json line = TaskToJson(task);
    if (arguments.teacher_error) {
      HONE_ASSIGN_OR_RETURN(line, Demonstration(arguments, loaded, task, tools.executor.get()));
    }
    lines += DumpJson(line) + "\n";
  }
  if (arguments.out.empty()) return lines;
  HONE_RETURN_IF_ERROR(WriteFileAtomic(arguments.out, lines));
  return std::string();
}

struct KindStatistics {
  int64_t tasks = 0, calls = 0, characters = 0;
};

Result<std::string> Stats(const EnvArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, Load(arguments));
  HONE_ASSIGN_OR_RETURN(const Split split, SplitOf(arguments, loaded));
  std::map<std::string, KindStatistics> kinds;
  std::map<std::string, int64_t> tools;
  KindStatistics all;
  const uint64_t end =
      std::min(arguments.count, loaded.tasks->count(split).value_or(arguments.count));
  for (uint64_t i = 0; i < end; ++i) {
    const Task task = loaded.tasks->Make(split, i);
    int64_t characters = 0;
    for (const Json& message : task.messages.AsArray()) {
      const Json* content = message.Find("content");
      if (content != nullptr) characters += static_cast<int64_t>(PlainText(*content).size());
    }
    const Json* calls = task.reward.Find("calls");
    const int64_t count =
        calls != nullptr && calls->is_array() ? static_cast<int64_t>(calls->AsArray().size()) : 0;
    for (int64_t c = 0; c < count; ++c) {
      const Json* name = calls->AsArray()[static_cast<size_t>(c)].Find("name");
      if (name != nullptr) ++tools[PlainText(*name)];
    }
    for (KindStatistics* sum : {&all, &kinds[SplitMarksOf(task).kind]}) {
      ++sum->tasks;
      sum->calls += count;
      sum->characters += characters;
    }
  }
  const auto mean = [](int64_t sum, int64_t count) {
    return count == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(count);
  };
  kinds["all"] = all;
  Json::Array rows;
  std::string view =
      fmt::format("{:<28}{:>8}{:>14}{:>20}\n", "kind", "tasks", "calls/task", "characters/request");
  for (const auto& [kind, sum] : kinds) {
    const double calls = mean(sum.calls, sum.tasks), size = mean(sum.characters, sum.tasks);
    rows.push_back(Json::Of({{"kind", kind},
                             {"tasks", sum.tasks},
                             {"calls_per_task", calls},
                             {"characters_per_request", size}}));
    view += fmt::format("{:<28}{:>8}{:>14.2f}{:>20.1f}\n", kind.empty() ? "-" : Printable(kind),
                        sum.tasks, calls, size);
  }
  view += fmt::format("\n{:<28}{:>8}\n", "tool", "calls");
  Json::Object by_tool;
  for (const auto& [tool, count] : tools) {
    by_tool.emplace_back(tool, count);
    view += fmt::format("{:<28}{:>8}\n", Printable(tool), count);
  }
  if (!json) return view;
  return DumpJson(Json::Of({{"kinds", std::move(rows)}, {"tools", std::move(by_tool)}})) + "\n";
}

// Lists every problem of a task file; *bad when there is one.
Result<std::string> Check(const EnvArguments& arguments, bool json, bool* bad) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.file));
  std::shared_ptr<const Toolbox> tools;
  if (!arguments.environment.empty()) {
    EnvArguments named = arguments;
    named.name = arguments.environment;
    if (named.name.ends_with(".toml")) {
      HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(named.name));
      HONE_ASSIGN_OR_RETURN(tools, ToolsOf(recipe.Root()));
    } else {
      HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, Load(named));
      tools = loaded.environment->tools();
    }
  }
  const TaskFile file = ReadTaskFile(text, tools.get());
  *bad = !file.problems.empty();
  Json::Array problems;
  std::string view;
  for (const TaskProblem& problem : file.problems) {
    problems.push_back(Json::Of({{"line", problem.line}, {"problem", problem.text}}));
    view += fmt::format("{}:{}: {}\n", arguments.file, problem.line, Printable(problem.text));
  }
  view += fmt::format("{}: {} tasks ({}), {} problems\n", arguments.file, file.tasks.size(),
                      file.shape, file.problems.size());
  if (!json) return view;
  return DumpJson(Json::Of({{"shape", file.shape},
                            {"tasks", static_cast<int64_t>(file.tasks.size())},
                            {"problems", std::move(problems)}})) +
         "\n";
}

constexpr char kNameHelp[] = "desk, quiz, service, or a recipe (.toml)";

CLI::App* AddNamed(CLI::App* group, const char* name, const char* about,
                   const std::shared_ptr<EnvArguments>& arguments) {
  CLI::App* command = group->add_subcommand(name, about);
  command->add_option("environment", arguments->name, kNameHelp)->required();
  command
      ->add_option("--split", arguments->split, "train, dev, test, unseen-kinds or unseen-phrases")
      ->capture_default_str();
  command->add_option("--set", arguments->overrides,
                      "change the recipe: environment.tasks.hard=true");
  return command;
}

}  // namespace

void AddEnv(CLI::App& app, std::shared_ptr<CommandContext> context) {
  CLI::App* group = app.add_subcommand("env", "Environments: look, play, write tasks, check tasks");
  group->require_subcommand(1);
  group->footer("Example:\n  hone env play desk\n");
  auto arguments = std::make_shared<EnvArguments>();

  CLI::App* list = group->add_subcommand("list", "Environments that come with the program");
  list->footer("Example:\n  hone env list\n");
  list->callback([=] { Finish(context.get(), List(context->json)); });

  CLI::App* show =
      AddNamed(group, "show", "An environment, its tools and one of its tasks", arguments);
  show->add_option("--index", arguments->index, "which task")->capture_default_str();
  show->footer("Example:\n  hone env show desk --split test --index 3\n");
  show->callback([=] { Finish(context.get(), Show(*arguments, context->json)); });

  CLI::App* play = AddNamed(group, "play", "Be the agent", arguments);
  play->add_option("--index", arguments->index, "which task")->capture_default_str();
  play->add_option("--seed", arguments->seed, "of the episode")->capture_default_str();
  play->footer(
      "A line is a call, NAME {\"argument\": ...}, or what you say to the user.\n"
      "Example:\n  hone env play service --split dev\n");
  play->callback([=] { Finish(context.get(), PlayHere(*arguments, context->json)); });

  CLI::App* tasks = AddNamed(group, "tasks", "Write tasks as JSON Lines", arguments);
  tasks->add_option("--count,-n", arguments->count, "how many")->capture_default_str();
  tasks->add_option("--index", arguments->index, "the first")->capture_default_str();
  tasks->add_option("--out,-o", arguments->out, "the file; standard output when absent");
  tasks
      ->add_option("--teacher-error", arguments->teacher_error,
                   "write demonstrations of the desk's teacher instead, with this share of errors")
      ->check(CLI::Range(0.0, 1.0));
  tasks->add_option("--seed", arguments->seed, "of the teacher")->capture_default_str();
  tasks->footer("Example:\n  hone env tasks desk --split dev -n 100 -o dev.jsonl\n");
  tasks->callback([=] { Finish(context.get(), WriteTasks(*arguments)); });

  CLI::App* stats = AddNamed(group, "stats", "Kinds of tasks, their calls and lengths", arguments);
  stats->add_option("--count,-n", arguments->count, "of how many tasks")->capture_default_str();
  stats->footer("Example:\n  hone env stats desk -n 5000\n");
  stats->callback([=] { Finish(context.get(), Stats(*arguments, context->json)); });

  CLI::App* check = group->add_subcommand("check", "List every problem of a task file");
  check->add_option("file", arguments->file, "tasks as JSON Lines")->required();
  check->add_option("--env", arguments->environment,
                    std::string("whose tools gold calls go to: ") + kNameHelp);
  check->footer(
      "Exit status 1 when there is a problem.\nExample:\n  hone env check tasks.jsonl --env "
      "desk\n");
  check->callback([=] {
    bool bad = false;
    Finish(context.get(), Check(*arguments, context->json, &bad));
    if (bad) context->exit_status = 1;
  });
}

}  // namespace hone
