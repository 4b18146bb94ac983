// hone env list, show, play, tasks, stats, check.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/env_episodes.h"
#include "app/env_player.h"
#include "app/env_recipe.h"
#include "app/input.h"
#include "app/model_agent.h"
#include "app/report.h"
#include "base/file.h"
#include "envs/gold.h"
#include "envs/plan.h"
#include "envs/task_file.h"
#include "record/record_json.h"
#include "rewards/labels.h"

namespace hone {
namespace {

struct EnvArguments {
  EnvironmentChoice choice;
  std::string split = "train", file, out, environment, agent = "person", run;
  uint64_t index = 0, seed = 1;
  std::optional<uint64_t> count;
  std::optional<double> teacher_error;
  ModelAgentChoice model;  // of agents that are models
};

constexpr uint64_t kCount = 1000;  // of tasks, where there is no end of them

Result<Split> SplitOf(const EnvArguments& arguments, const LoadedEnvironment& loaded) {
  HONE_ASSIGN_OR_RETURN(const Split split, SplitFromName(arguments.split));
  const std::optional<uint64_t> count = loaded.tasks->count(split);
  if (count && *count == 0) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} has no tasks in {}", arguments.choice.name, arguments.split));
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
  for (const RegisteredEnvironment& one : BuiltInEnvironments()) {
    if (!one.traits.in_process) continue;
    HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, NewBuiltIn(one.name));
    const EnvironmentTraits& traits = loaded.environment->traits();
    const std::string_view kind = EnvironmentKindName(traits.kind);
    array.push_back(Json::Of({{"name", one.name}, {"kind", kind}, {"about", traits.about}}));
    view += fmt::format("{:<13}{:<13}{}\n", one.name, kind, traits.about);
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
  HONE_ASSIGN_OR_RETURN(const OpenedEnvironment opened, OpenEnvironment(arguments.choice));
  const LoadedEnvironment& loaded = opened.loaded;
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

// Two plays by hand are two runs, unless they are given one name.
std::string RunName(const EnvArguments& arguments) {
  if (!arguments.run.empty()) return arguments.run;
  if (arguments.agent != "person") return fmt::format("{}-{}", arguments.agent, arguments.seed);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("person-{}",
                     std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// The end of an episode, for programs.
std::string PlayedJson(const Playthrough& played) {
  return DumpJson(Json::Of({{"ending", EndingName(played.ending)},
                            {"messages", MessagesOf(played)},
                            {"final_state", played.final_state}})) +
         "\n";
}

Result<std::string> PlayHere(const EnvArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const OpenedEnvironment opened, OpenEnvironment(arguments.choice));
  HONE_ASSIGN_OR_RETURN(const Task listed, TaskOf(arguments, opened.loaded));
  HONE_ASSIGN_OR_RETURN(AnsweredRun run, BeginRun(opened, RunName(arguments), arguments.seed));
  const Result<Task> task = TaskInRun(opened, listed, arguments.seed, &run);
  if (!task.ok()) return task.error().In("this task is void in this world");
  const Environment& environment = *opened.loaded.environment;
  const Terminal terminal = Terminal::Of(stdout);
  // Programs get the end alone.
  std::ostream nowhere(nullptr);
  const auto person = NewPerson(environment, terminal, &std::cin, json ? &nowhere : &std::cout);
  HONE_ASSIGN_OR_RETURN(const Playthrough played,
                        Play(environment, *task, WorldSeed(arguments.seed, *task), person.get(),
                             run.executor.get(), {.run = run.name}));
  return json ? PlayedJson(played) : EndView(played, terminal);
}

Result<std::string> PlayAgent(const EnvArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const OpenedEnvironment opened, OpenEnvironment(arguments.choice));
  HONE_ASSIGN_OR_RETURN(const Split split, SplitOf(arguments, opened.loaded));
  HONE_RETURN_IF_ERROR([&]() -> Result<void> {
    const Result<Task> first = TaskOf(arguments, opened.loaded);
    return first.ok() ? Result<void>() : Result<void>(first.error());
  }());
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<ModelAgent> model,
      ModelAgent::Open(arguments.agent, arguments.model, *opened.loaded.environment));
  const uint64_t left = opened.loaded.tasks->count(split).value_or(UINT64_MAX) - arguments.index;
  const uint64_t usual = model == nullptr ? kCount : 1;
  HONE_ASSIGN_OR_RETURN(AnsweredRun run, BeginRun(opened, RunName(arguments), arguments.seed));
  HONE_ASSIGN_OR_RETURN(const EpisodesReport report,
                        PlayEpisodes(opened,
                                     {.agent = arguments.agent,
                                      .make = model == nullptr ? nullptr : model->maker(),
                                      .split = split,
                                      .first = arguments.index,
                                      .count = std::min(left, arguments.count.value_or(usual)),
                                      .seed = arguments.seed},
                                     &run));
  if (!arguments.out.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomic(arguments.out, report.Lines()));
  if (model != nullptr && report.episodes.size() == 1 && !arguments.count) {
    const EpisodeReport& only = report.episodes[0];
    if (!only.void_because.empty()) return Error(ErrorCode::kUnavailable, only.void_because);
    return json ? PlayedJson(only.played) : EpisodeView(only.played, Terminal::Of(stdout));
  }
  return json ? DumpJson(report.Summary()) + "\n" : report.View();
}

// How the teacher plays a task, as chat messages.
Result<Json> Demonstration(const EnvArguments& arguments, const LoadedEnvironment& loaded,
                           const Task& task, Executor* executor) {
  HONE_ASSIGN_OR_RETURN(const auto teacher,
                        loaded.teacher(task, *arguments.teacher_error,
                                       Rng(arguments.seed).Split("teacher").Split(task.id)));
  HONE_ASSIGN_OR_RETURN(const Playthrough played,
                        Play(*loaded.environment, task, arguments.seed, teacher.get(), executor));
  return Json::Of(
      {{"id", task.id}, {"messages", MessagesOf(played)}, {"success", played.success()}});
}

Result<std::string> WriteTasks(const EnvArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const OpenedEnvironment opened, OpenEnvironment(arguments.choice));
  const LoadedEnvironment& loaded = opened.loaded;
  HONE_ASSIGN_OR_RETURN(const Split split, SplitOf(arguments, loaded));
  if (arguments.teacher_error && !loaded.teacher) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("only {} have a teacher", EnvironmentsWith(&KindTraits::has_teacher)));
  }
  std::optional<AnsweredRun> run;  // of the teacher
  if (arguments.teacher_error) {
    HONE_ASSIGN_OR_RETURN(run, BeginRun(opened, RunName(arguments), arguments.seed));
  }
  const uint64_t end = std::min(arguments.index + arguments.count.value_or(kCount),
                                loaded.tasks->count(split).value_or(UINT64_MAX));
  std::string lines;
  for (uint64_t i = arguments.index; i < end; ++i) {
    const Task task = loaded.tasks->Make(split, i);
    Json line = TaskToJson(task);
    if (arguments.teacher_error) {
      HONE_ASSIGN_OR_RETURN(line, Demonstration(arguments, loaded, task, run->executor.get()));
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
  HONE_ASSIGN_OR_RETURN(const OpenedEnvironment opened, OpenEnvironment(arguments.choice));
  const LoadedEnvironment& loaded = opened.loaded;
  HONE_ASSIGN_OR_RETURN(const Split split, SplitOf(arguments, loaded));
  std::map<std::string, KindStatistics> kinds;
  std::map<std::string, int64_t> tools;
  KindStatistics all;
  const uint64_t wanted = arguments.count.value_or(kCount);
  const uint64_t end = std::min(wanted, loaded.tasks->count(split).value_or(wanted));
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

// Every problem of the task files, each with its file and line.
class TaskChecks {
 public:
  void Check(const std::string& name, const Toolbox* tools, const TaskKeys& keys) {
    const Result<std::string> text = ReadInput(name);
    if (!text.ok()) return Add(name, 0, text.error().message());
    const TaskFile file = ReadTaskFile(*text, tools, keys);
    for (const TaskProblem& problem : file.problems) Add(name, problem.line, problem.text);
    // What rewards read is theirs to understand.
    for (size_t i = 0; i < file.tasks.size(); ++i) {
      const Result<Labels> labels = LabelsOf(file.tasks[i]);
      if (!labels.ok()) Add(name, file.lines[i], "reward: " + labels.error().message());
    }
    tasks_ += static_cast<int64_t>(file.tasks.size());
    shape_ = file.shape;
    view_ += fmt::format("{}: {} tasks ({}), {} problems\n", name, file.tasks.size(), file.shape,
                         of_file_);
    of_file_ = 0;
  }

  void Note(const std::string& text) { view_ += text; }

  bool bad() const { return !problems_.empty(); }
  std::string View() const { return view_; }
  Json ToJson() const {
    return Json::Of({{"shape", shape_}, {"tasks", tasks_}, {"problems", problems_}});
  }

 private:
  void Add(const std::string& file, int64_t line, const std::string& text) {
    problems_.push_back(Json::Of({{"file", file}, {"line", line}, {"problem", text}}));
    view_ += line == 0 ? Printable(text) + "\n"
                       : fmt::format("{}:{}: {}\n", file, line, Printable(text));
    ++of_file_;
  }

  Json::Array problems_;
  std::string view_, shape_;
  int64_t tasks_ = 0, of_file_ = 0;
};

// The tools that gold calls of an environment go to.
Result<std::shared_ptr<const Toolbox>> ToolsOf(const EnvironmentChoice& choice,
                                               const EnvironmentRecipe& recipe) {
  if (recipe.environment.files.empty()) {  // they are the environment's own
    HONE_ASSIGN_OR_RETURN(const OpenedEnvironment opened, OpenEnvironment(choice));
    return opened.loaded.environment->tools();
  }
  return MakeTools(recipe.backend, recipe.tools);
}

// A task file, or all of a recipe; *bad when there is a problem.
Result<std::string> Check(EnvArguments arguments, bool json, bool* bad) {
  const bool is_recipe = arguments.file.ends_with(".toml");
  std::vector<std::string> files = {arguments.file};
  std::shared_ptr<const Toolbox> tools;
  std::map<std::string, TaskKeys> keys;
  arguments.choice.name = is_recipe ? arguments.file : arguments.environment;
  if (!arguments.choice.name.empty()) {
    HONE_ASSIGN_OR_RETURN(const EnvironmentRecipe recipe, ReadEnvironmentRecipe(arguments.choice));
    HONE_ASSIGN_OR_RETURN(tools, ToolsOf(arguments.choice, recipe));
    HONE_ASSIGN_OR_RETURN(keys, TaskKeysOf(arguments.choice));
    // A file that is held against a recipe has rows as its own.
    if (!is_recipe && !keys.empty()) keys.emplace(arguments.file, keys.begin()->second);
    if (is_recipe) files.clear();
    for (const auto& [split, file] : recipe.environment.files) {
      if (is_recipe) files.push_back(file);
    }
  }
  TaskChecks checks;
  for (const std::string& file : files) checks.Check(file, tools.get(), keys[file]);
  if (tools == nullptr) checks.Note("gold calls were not checked; name their tools with --env\n");
  *bad = checks.bad();
  return json ? DumpJson(checks.ToJson()) + "\n" : checks.View();
}

void AddAnswers(Command command, EnvArguments* arguments) {
  command.AddOverrides(&arguments->choice.overrides,
                       "key=value, over the recipe's: environment.tasks.hard=true");
  command.AddOption("--mode", &arguments->choice.mode,
                    "who answers calls: live, record, replay, replay-else-simulate or simulate; "
                    "else as the recipe says");
  command.AddOption("--journal", &arguments->choice.journal,
                    "what calls are answered, else the recipe's");
}

Command AddNamed(Command group, const char* name, const char* about,
                 const std::shared_ptr<EnvArguments>& arguments) {
  Command command = group.AddCommand(name, about);
  command.AddOption("environment", &arguments->choice.name, NamedEnvironments()).Required();
  command
      .AddOption("--split", &arguments->split, "train, dev, test, unseen-kinds or unseen-phrases")
      .ShowDefault();
  AddAnswers(command, arguments.get());
  return command;
}

void AddPlay(Command group, std::shared_ptr<EnvArguments> arguments,
             std::shared_ptr<CommandContext> context) {
  Command play =
      AddNamed(group, "play", "Play one task as the agent, or let an agent play many", arguments);
  play.AddOption("--index", &arguments->index, "which task, or the first").ShowDefault();
  play.AddOption("--seed", &arguments->seed, "of the episode").ShowDefault();
  play.AddOption("--agent", &arguments->agent,
                 "person, gold (as the task's plan says), random, idle, always-call; or a model: "
                 "a run, a folder, the URL of an endpoint")
      .ShowDefault();
  AddModelAgentOptions(play, &arguments->model);
  play.AddOption("--count,-n", &arguments->count,
                 "how many tasks an agent plays; else all, of a model one, which is shown");
  play.AddOption("--run", &arguments->run, "the name of the run in the journal");
  play.AddOption("--out,-o", &arguments->out, "JSON Lines of an agent's episodes");
  play.Footer(
      "A line is a call, NAME {\"argument\": ...}, or what you say to the user.\n"
      "Examples:\n  hone env play service --split dev\n"
      "  hone env play mine.toml --agent gold --mode record\n"
      "  hone env play mine.toml --agent runs/mine --split test --index 3\n"
      "  hone env play mine.toml --agent http://127.0.0.1:8000/v1\n");
  play.Action([=] {
    const bool person = arguments->agent == "person";
    Finish(context.get(),
           person ? PlayHere(*arguments, context->json) : PlayAgent(*arguments, context->json));
  });
}

void AddCheck(Command group, std::shared_ptr<EnvArguments> arguments,
              std::shared_ptr<CommandContext> context) {
  Command check = group.AddCommand("check", "List every problem of a file of tasks");
  check.AddOption("file", &arguments->file, "tasks as JSON Lines, or a recipe (.toml)").Required();
  check.AddOption("--env", &arguments->environment,
                  std::string("whose tools gold calls go to: ") + NamedEnvironments());
  AddAnswers(check, arguments.get());
  check.Footer(
      "Exit status 1 when there is a problem.\nExamples:\n"
      "  hone env check mine.toml\n  hone env check tasks.jsonl --env desk\n");
  check.Action([=] {
    bool bad = false;
    Finish(context.get(), Check(*arguments, context->json, &bad));
    if (bad) context->exit_status = 1;
  });
}

}  // namespace

void AddEnv(Command program, std::shared_ptr<CommandContext> context) {
  Command group = program.AddCommand("env", "Inspect and play environments, write and check tasks");
  group.NeedsCommand();
  group.Footer("Example:\n  hone env play desk\n");
  auto arguments = std::make_shared<EnvArguments>();

  Command list = group.AddCommand("list", "List the environments that come with the program");
  list.Footer("Example:\n  hone env list\n");
  list.Action([=] { Finish(context.get(), List(context->json)); });

  Command show =
      AddNamed(group, "show", "Show an environment, its tools and one of its tasks", arguments);
  show.AddOption("--index", &arguments->index, "which task").ShowDefault();
  show.Footer("Example:\n  hone env show desk --split test --index 3\n");
  show.Action([=] { Finish(context.get(), Show(*arguments, context->json)); });

  AddPlay(group, arguments, context);

  Command tasks =
      AddNamed(group, "tasks", "Write the tasks of an environment as JSON Lines", arguments);
  tasks.AddOption("--count,-n", &arguments->count, "how many; else at most 1000");
  tasks.AddOption("--index", &arguments->index, "the first").ShowDefault();
  tasks.AddOption("--out,-o", &arguments->out, "the file; standard output when absent");
  tasks
      .AddOption("--teacher-error", &arguments->teacher_error,
                 "write a teacher's demonstrations instead, with this share of errors (desk, "
                 "service, study; switchboard has its own)")
      .Between(0.0, 1.0);
  tasks.AddOption("--seed", &arguments->seed, "of the teacher").ShowDefault();
  tasks.Footer("Example:\n  hone env tasks desk --split dev -n 100 -o dev.jsonl\n");
  tasks.Action([=] { Finish(context.get(), WriteTasks(*arguments)); });

  Command stats =
      AddNamed(group, "stats", "Count the tasks of each kind, their calls and lengths", arguments);
  stats.AddOption("--count,-n", &arguments->count, "of how many tasks; else at most 1000");
  stats.Footer("Example:\n  hone env stats desk -n 5000\n");
  stats.Action([=] { Finish(context.get(), Stats(*arguments, context->json)); });

  AddCheck(group, arguments, context);
}

}  // namespace hone
