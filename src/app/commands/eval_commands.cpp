// hone eval.

#include <utility>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/endpoint_setup.h"
#include "app/env_recipe.h"
#include "app/evaluation_setup.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "app/suite_options.h"
#include "app/views/evaluation_view.h"
#include "app/views/tool_benefit_view.h"
#include "base/file.h"
#include "envs/environments.h"
#include "evaluate/suites/suite_tasks.h"

namespace hone {
namespace {

constexpr int64_t kAllTasks = 10'000'000;

struct EvalArguments {
  EvaluationChoice choice;
  std::string split = "test", out;
  std::optional<int64_t> tasks;
  std::optional<double> temperature;
  std::optional<uint64_t> seed;
  int64_t samples = 1;
  bool greedy = false;
  bool without_tools = false;
  SuiteOptions suite;
};

// What is asked for: both ways to draw, unless one of them is named.
std::vector<double> TemperaturesOf(const EvalArguments& arguments, double usual) {
  std::vector<double> temperatures;
  if (arguments.temperature || !arguments.greedy) {
    temperatures.push_back(arguments.temperature.value_or(usual));
  }
  const bool only_sampled = arguments.temperature && !arguments.greedy;
  if (!only_sampled && temperatures != std::vector<double>{0}) temperatures.push_back(0);
  return temperatures;
}

std::string NameOf(double temperature, bool without_tools) {
  return (temperature == 0 ? "greedy" : fmt::format("sampled at {}", temperature)) +
         (without_tools ? ", no tools" : "");
}

// As programs are told.
std::string KeyOf(const Evaluation& evaluation) {
  return std::string(evaluation.temperature == 0 ? "greedy" : "sampled") +
         (evaluation.without_tools ? std::string("-") + kWithoutTools : "");
}

// With tools, and where that is asked for without.
std::vector<bool> ConditionsOf(const EvalArguments& arguments) {
  return arguments.without_tools ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

// Who is measured, and where.
struct Measured {
  std::string name;
  std::string environment;
  Json identity;  // members of the JSON that say the same for programs
};

std::string Head(const Measured& who, const Evaluation& one, const Terminal& terminal) {
  std::string text = fmt::format("{} on {}, {}: {} tasks", terminal.Bold(who.name),
                                 terminal.Bold(who.environment), SplitName(one.split), one.tasks);
  if (one.samples > 1) text += fmt::format(", {} trajectories each", one.samples);
  return text + ", real tools; [95 % intervals over tasks]\n";
}

Result<std::string> EvaluateOnSuite(const EvalArguments& arguments, bool json) {
  if (!arguments.choice.environment.empty() || arguments.tasks ||
      !arguments.choice.overrides.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "--env, --set and --tasks are for environments; of a suite say --category and "
                 "--cases");
  }
  return EvaluateSuite({.choice = arguments.choice,
                        .options = arguments.suite,
                        .temperature = arguments.temperature,
                        .greedy = arguments.greedy,
                        .samples = arguments.samples,
                        .seed = arguments.seed.value_or(0),
                        .out = arguments.out},
                       json);
}

// The recipe that says where a model acts: that of --env, or of its run; empty: nobody says.
Result<std::filesystem::path> RecipeOf(const EvaluationChoice& choice) {
  if (!choice.environment.empty()) return std::filesystem::path(choice.environment);
  if (IsEndpoint(choice.model)) return std::filesystem::path();
  HONE_ASSIGN_OR_RETURN(const ModelPlace place, FindModel(choice.model, choice.checkpoint));
  return place.run.empty() ? std::filesystem::path() : place.run / "recipe.toml";
}

// Why task files cannot be played there; empty: they can.
Result<std::string> WhyNotPlayed(const std::filesystem::path& recipe) {
  if (recipe.extension() != ".toml") return std::string("brings its own tasks");
  HONE_ASSIGN_OR_RETURN(Recipe read, Recipe::Load(recipe));
  if (read.Root().HasList("environment")) return std::string("has several environments");
  return std::string(ReadEnvironment(read.Root()).files.empty() ? "brings its own tasks" : "");
}

// A file of tasks in place of a suite is played where the model is at home, if that takes task
// files; else it stays a suite.
Result<void> PlaceTasks(EvalArguments* arguments) {
  std::string& file = arguments->suite.suite;
  if (!IsFileOfLines(file)) return {};
  HONE_ASSIGN_OR_RETURN(const bool tasks, IsTaskFile(file));
  if (!tasks) return {};
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path recipe, RecipeOf(arguments->choice));
  if (recipe.empty()) return {};
  HONE_ASSIGN_OR_RETURN(const std::string why, WhyNotPlayed(recipe));
  if (!why.empty() && arguments->choice.environment.empty()) return {};
  if (!why.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has tasks, but {} {}; name a recipe whose environment reads task "
                             "files (kind = \"data\" or \"command\")",
                             file, recipe.string(), why));
  }
  arguments->choice.overrides.push_back("environment.test=" + std::exchange(file, ""));
  arguments->split = "test";
  if (!arguments->tasks) arguments->tasks = kAllTasks;
  return {};
}

// Writes the file, and returns what is printed.
Result<std::string> Found(const EvalArguments& arguments, const Measured& who, uint64_t seed,
                          const std::vector<ShownEvaluation>& shown, bool json) {
  Json::Object evaluations;
  for (const ShownEvaluation& one : shown) {
    evaluations.emplace_back(KeyOf(one.evaluation), ShownJson(one));
  }
  const std::vector<ShownToolBenefit> uses = ToolBenefitsOf(shown);
  Json found = who.identity;
  found.Set("environment", who.environment);
  found.Set("split", SplitName(shown[0].evaluation.split));
  found.Set("seed", seed);
  found.Set("evaluations", std::move(evaluations));
  if (!uses.empty()) found.Set("tool_use", ToolBenefitsJson(uses));
  if (!arguments.out.empty()) {
    HONE_RETURN_IF_ERROR(
        WriteFileAtomic(arguments.out, DumpJson(found, JsonStyle::kPretty) + "\n"));
  }
  if (json) return DumpJson(found) + "\n";
  const Terminal terminal = Terminal::Of(stdout);
  return Head(who, shown[0].evaluation, terminal) + EvaluationsView(shown, terminal) +
         KindsView(shown[0].name, &shown[0].json, terminal) + ToolBenefitsView(uses, terminal);
}

// A model of this machine.
Result<std::string> EvaluateHere(const EvalArguments& arguments, Split split, bool json) {
  if (arguments.suite.endpoint != EndpointChoice()) {
    return Error(ErrorCode::kInvalidArgument,
                 "--turn-tokens and what is said of endpoints are for suites and URLs; a model of "
                 "this machine goes by its recipe (--set rollout.max_turn_tokens=...)");
  }
  HONE_ASSIGN_OR_RETURN(const auto setup, OpenForEvaluation(arguments.choice));
  const RunEvaluationOptions& usual = setup->recipe.evaluation;
  const uint64_t seed = arguments.seed.value_or(usual.seed);
  std::vector<ShownEvaluation> shown;
  ProgressBar bar(stderr);
  for (const double temperature : TemperaturesOf(arguments, usual.temperature)) {
    for (const bool without_tools : ConditionsOf(arguments)) {
      const std::string name = NameOf(temperature, without_tools);
      HONE_ASSIGN_OR_RETURN(
          Evaluation evaluation,
          setup->context->Evaluate(
              {.split = split,
               .tasks = arguments.tasks.value_or(usual.TasksOf(split)),
               .samples = temperature == 0 ? 1 : arguments.samples,  // greedy is the same each time
               .without_tools = without_tools,
               .seed = seed,
               .progress = [&](int64_t ended, int64_t all) { bar.Show(name, ended, all); }},
              temperature));
      shown.push_back(MakeShown(name, std::move(evaluation)));
    }
  }
  bar.Erase();
  const std::string folder = setup->place.folder.string();
  return Found(arguments,
               {.name = folder,
                .environment = setup->environment,
                .identity = Json::Of(
                    {{"model", folder}, {"weights", setup->context->engine->WeightsHash()}})},
               seed, shown, json);
}

// A model behind an endpoint. It is asked once per task unless more is said: somebody may pay.
Result<std::string> EvaluateThere(const EvalArguments& arguments, Split split, bool json) {
  HONE_ASSIGN_OR_RETURN(const auto setup,
                        OpenForEndpoint(arguments.choice, arguments.suite.endpoint));
  const RunEvaluationOptions& usual = setup->measuring.evaluation;
  const uint64_t seed = arguments.seed.value_or(usual.seed);
  const bool sampled = !arguments.greedy && (arguments.temperature || arguments.samples > 1);
  const double temperature = sampled ? arguments.temperature.value_or(usual.temperature) : 0;
  std::vector<ShownEvaluation> shown;
  ProgressBar bar(stderr);
  for (const bool without_tools : ConditionsOf(arguments)) {
    const std::string name = NameOf(temperature, without_tools);
    HONE_ASSIGN_OR_RETURN(Evaluation evaluation,
                          setup->PlayerAt(temperature, arguments.suite.endpoint)
                              .Evaluate({.split = split,
                                         .tasks = arguments.tasks.value_or(usual.TasksOf(split)),
                                         .samples = temperature == 0 ? 1 : arguments.samples,
                                         .without_tools = without_tools,
                                         .seed = seed,
                                         .progress = [&](int64_t ended, int64_t all) {
                                           bar.Show(name, ended, all);
                                         }}));
    shown.push_back(MakeShown(name, std::move(evaluation)));
  }
  bar.Erase();
  return Found(arguments,
               {.name = setup->model->name(),
                .environment = setup->environment(),
                .identity = Json::Of({{"model", setup->model->name()},
                                      {"account", setup->model->account().ToJson()}})},
               seed, shown, json);
}

Result<std::string> Evaluate(const EvalArguments& given, bool json) {
  EvalArguments arguments = given;
  HONE_RETURN_IF_ERROR(PlaceTasks(&arguments));
  if (!arguments.suite.suite.empty() && arguments.without_tools) {
    return Error(ErrorCode::kInvalidArgument,
                 "--without-tools is for environments; of a suite leave out --tool");
  }
  if (!arguments.suite.suite.empty()) return EvaluateOnSuite(arguments, json);
  if (arguments.suite.AnyGiven()) {
    return Error(ErrorCode::kInvalidArgument,
                 "options of suites need one: hone eval MODEL bfcl:FOLDER (docs/suites.md)");
  }
  HONE_ASSIGN_OR_RETURN(const Split split, SplitFromName(arguments.split));
  return IsEndpoint(arguments.choice.model) ? EvaluateThere(arguments, split, json)
                                            : EvaluateHere(arguments, split, json);
}

}  // namespace

void AddEval(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<EvalArguments>();
  EvaluationChoice& choice = arguments->choice;
  Command eval =
      program.AddCommand("eval", "Measure a model on the real tools, or on a suite of cases");
  eval.AddOption(
          "model", &choice.model,
          "a run (runs/NAME), a checkpoint, a Hugging Face folder, or the URL of an endpoint "
          "that speaks OpenAI's API (http://127.0.0.1:8000/v1)")
      .Required();
  AddSuiteOptions(eval, &arguments->suite);
  eval.AddOption("--env", &choice.environment, NamedEnvironments() + "; else as the model's run");
  eval.AddOption("--split", &arguments->split, "train, dev, test, unseen-kinds or unseen-phrases")
      .ShowDefault();
  eval.AddOption("--tasks,-n", &arguments->tasks, "the first of the split; else as the recipe says")
      .Between(1, 10'000'000);
  eval.AddOption("--temperature", &arguments->temperature,
                 "only sampled, at this one; else sampled and greedy (of an endpoint: greedy)")
      .Between(0.0, 100.0);
  eval.AddFlag("--greedy", &arguments->greedy, "only greedy");
  eval.AddFlag("--without-tools", &arguments->without_tools,
               "also with the tools taken away: what they bring, and where they are overused");
  eval.AddOption("--samples,-k", &arguments->samples,
                 "trajectories per task: pass@k (one of k does it) and pass^k (all k do)")
      .Between(1, 1024)
      .ShowDefault();
  eval.AddOption("--seed", &arguments->seed, "of what is drawn; else the recipe's");
  eval.AddOption("--checkpoint", &choice.checkpoint, "of a run: last, best or a step")
      .ShowDefault();
  eval.AddOption("--dialect", &choice.dialect, "how the model spells calls; else as its run did");
  eval.AddOverrides(&choice.overrides, "key=value, over the recipe's: environment.tasks.hard=true");
  AddDeviceOption(eval, &choice.device);
  eval.AddOption("--threads", &choice.threads, "else as many as the machine has").Between(0, 1024);
  eval.AddOption("--out,-o", &arguments->out,
                 "write everything to this file as JSON, too; of a suite: every case, a line each");
  eval.Footer(
      "Nothing is trained and nothing is written to the run. docs/evaluation.md says what the\n"
      "figures are, docs/suites.md which suites there are.\nExamples:\n"
      "  hone eval runs/quickstart\n"
      "  hone eval runs/quickstart --without-tools\n"
      "  hone eval runs/quickstart --split unseen-kinds --samples 8\n"
      "  hone eval my-model --env desk --dialect tagged:desk --split dev --tasks 200\n"
      "  hone eval runs/mine tasks.jsonl\n"
      "  hone eval http://127.0.0.1:8000/v1 --env mine.toml --key-variable MY_KEY\n"
      "  hone eval my-model bfcl:/data/bfcl --category simple_python,irrelevance --rename-tools\n"
      "  hone eval http://127.0.0.1:8000/v1 gsm8k:/data/gsm8k --model-name mine --tool python\n");
  eval.Action([=] { Finish(context.get(), Evaluate(*arguments, context->json)); });
}

}  // namespace hone
