// hone simulate call, train, teach, fidelity (record and audit: world_commands.cpp).

#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/commands/world_commands.h"
#include "app/installed/shipped_files.h"
#include "app/report.h"
#include "base/recipe.h"
#include "simulate/fidelity.h"
#include "simulate/players/taught_model.h"
#include "simulate/simulator_options.h"
#include "tools/modes.h"
#include "tools/spec_tool.h"

namespace hone {
namespace {

struct SimulateArguments {
  std::string specs, journal, simulator, out, tool, apart_from, shown, call_arguments = "{}";
  std::vector<std::string> overrides, lesson_specs, lesson_journals;
  double held_out = 0.2;
  uint64_t seed = 0;
  size_t per_tool = SIZE_MAX;
};

// Tools of which there is only the description.
Result<std::shared_ptr<const Toolbox>> ReadTools(const std::string& file) {
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<Toolkit> described, NewSpecToolkit({file}));
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of({{std::move(described), {}}}));
  return std::make_shared<const Toolbox>(std::move(toolbox));
}

Result<std::shared_ptr<const JournaledCalls>> ReadJournal(
    const std::string& file, const std::shared_ptr<const Toolbox>& toolbox) {
  if (file.empty()) return std::shared_ptr<const JournaledCalls>();
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal, Journal::OpenForReading(file));
  HONE_ASSIGN_OR_RETURN(JournaledCalls recorded, ReadRecordedCalls(journal.get(), toolbox));
  return std::make_shared<const JournaledCalls>(std::move(recorded));
}

Result<Recipe> ReadRecipe(const SimulateArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, arguments.simulator.empty()
                                           ? Recipe::Parse("", "defaults")
                                           : LoadNamedRecipe(arguments.simulator));
  for (const std::string& assignment : arguments.overrides) recipe.Override(assignment);
  return recipe;
}

Result<SimulatorOptions> ReadSettings(const SimulateArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, ReadRecipe(arguments));
  SimulatorOptions settings = ReadSimulatorOptions(recipe.Root());
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return settings;
}

Result<std::string> CallOnce(const SimulateArguments& arguments, CommandContext* context) {
  HONE_ASSIGN_OR_RETURN(const SimulatorOptions settings, ReadSettings(arguments));
  HONE_ASSIGN_OR_RETURN(const auto toolbox, ReadTools(arguments.specs));
  HONE_ASSIGN_OR_RETURN(auto recorded, ReadJournal(arguments.journal, toolbox));
  HONE_ASSIGN_OR_RETURN(const Json call, ParseJson(arguments.call_arguments));
  HONE_ASSIGN_OR_RETURN(auto player, NewPlayer(settings, std::move(recorded)));
  const auto timeline = NewRealTimeline();
  ExecutorOptions options;
  if (!arguments.journal.empty()) {
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<Journal> journal,
                          Journal::OpenForReading(arguments.journal));
    options.responders.push_back(NewLookupResponder(std::move(journal)));
  }
  options.responders.push_back(NewSimulator(std::move(player), settings.check, timeline.get()));
  Executor executor(std::move(options), timeline.get());
  executor.Submit({{.run = "call", .task = "0", .path = "0"},
                   arguments.tool,
                   call,
                   std::make_shared<Sessions>(toolbox, arguments.seed)});
  const CallOutcome outcome = executor.Next().value();
  const ToolResult& result = outcome.result;
  if (result.status != CallStatus::kOk) context->exit_status = 1;
  if (context->json) {
    return DumpJson(Json::Of({{"status", CallStatusName(result.status)},
                              {"blame", BlameName(result.blame)},
                              {"source", CallSourceName(outcome.source)},
                              {"content", result.content}})) +
           "\n";
  }
  if (result.status == CallStatus::kOk) return result.content + "\n";
  return fmt::format("{}: {}\n", CallStatusName(result.status), result.content);
}

void TellProgress(const TrainingProgress& progress) {
  if (progress.step % 100 != 0 && progress.step != progress.steps) return;
  std::fputs(fmt::format("step {:>5} of {}  {:.3f} nats a token\n", progress.step, progress.steps,
                         progress.loss)
                 .c_str(),
             stderr);
}

Result<std::string> TrainOne(const SimulateArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, ReadRecipe(arguments));
  const LearnedOptions options = ReadLearnedOptions(recipe.Root());
  HONE_RETURN_IF_ERROR(recipe.Finish());
  HONE_ASSIGN_OR_RETURN(const auto toolbox, ReadTools(arguments.specs));
  HONE_ASSIGN_OR_RETURN(const auto recorded, ReadJournal(arguments.journal, toolbox));
  const auto [train, held_out] = SplitByEnvironment(*recorded, arguments.held_out);
  TrainingReport report;
  HONE_ASSIGN_OR_RETURN(const LearnedModel model,
                        TrainLearnedModel(train, options, &report, TellProgress));
  HONE_RETURN_IF_ERROR(model.Save(arguments.out));
  if (json) return DumpJson(report.ToJson()) + "\n";
  return fmt::format("{}: {} parameters learned from {} calls ({} too long, {} held out)\n",
                     arguments.out, report.parameters, report.calls, report.too_long,
                     held_out.calls.size());
}

// A journal for each description, or one description for all of them.
Result<std::vector<Lesson>> ReadLessons(const SimulateArguments& arguments) {
  const std::vector<std::string>&specs = arguments.lesson_specs,
        &journals = arguments.lesson_journals;
  if (specs.size() != 1 && specs.size() != journals.size()) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("there are {} of --specs and {} of --journal; give one --specs for all "
                    "journals, or one for each in the same order",
                    specs.size(), journals.size()));
  }
  std::vector<Lesson> lessons;
  for (size_t i = 0; i < journals.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const auto toolbox, ReadTools(specs[specs.size() == 1 ? 0 : i]));
    HONE_ASSIGN_OR_RETURN(const auto recorded, ReadJournal(journals[i], toolbox));
    if (recorded == nullptr || recorded->calls.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\" has no calls of the tools that {} describes", journals[i],
                               specs[specs.size() == 1 ? 0 : i]));
    }
    lessons.push_back({toolbox, *recorded});
  }
  return lessons;
}

Result<std::string> Teach(const SimulateArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, ReadRecipe(arguments));
  const TeachingOptions options = ReadTeachingOptions(recipe.Root());
  HONE_RETURN_IF_ERROR(recipe.Finish());
  HONE_ASSIGN_OR_RETURN(const std::vector<Lesson> lessons, ReadLessons(arguments));
  TrainingReport report;
  HONE_ASSIGN_OR_RETURN(const TaughtModel model,
                        TeachModel(lessons, options, &report, TellProgress));
  HONE_RETURN_IF_ERROR(model.Save(arguments.out));
  if (json) return DumpJson(report.ToJson()) + "\n";
  return fmt::format(
      "{}: {} parameters taught with {} calls of {} lessons ({} too long)\n"
      "To let it play tools that it has not seen:\n"
      "  hone simulate fidelity --specs TOOLS --journal CALLS kind=model folder={} dialect={} "
      "examples={} prompt={}\n",
      arguments.out, report.parameters, report.calls, lessons.size(), report.too_long,
      arguments.out, options.dialect, options.examples,
      options.prompt == PromptStyle::kBrief ? "brief" : "full");
}

// Whoever has seen a world is not to be measured on it.
Result<void> CheckApart(const SimulateArguments& arguments, const JournaledCalls& held_out,
                        const std::shared_ptr<const Toolbox>& toolbox) {
  if (arguments.apart_from.empty()) return {};
  HONE_ASSIGN_OR_RETURN(const auto seen, ReadJournal(arguments.apart_from, toolbox));
  const size_t shared = SharedEnvironments(held_out, *seen);
  if (shared == 0) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} environments are in {} and in {}; record with another --seed",
                           shared, arguments.journal, arguments.apart_from));
}

// Whoever is shown the answer to a question is not to be asked it.
void LeaveOutShown(const JournaledCalls& shown, JournaledCalls* asked) {
  const auto question = [](const RecordedCall& call) {
    return QuestionHash(call.environment_seed, call.tool, call.arguments, call.writes);
  };
  std::set<std::string> known;
  for (const RecordedCall& call : shown.calls) known.insert(question(call));
  const size_t left_out = std::erase_if(
      asked->calls, [&](const RecordedCall& call) { return known.contains(question(call)); });
  if (left_out == 0) return;
  std::fputs(fmt::format("{} calls are left out: the player is shown them\n", left_out).c_str(),
             stderr);
}

Result<std::string> Measure(const SimulateArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const SimulatorOptions settings, ReadSettings(arguments));
  HONE_ASSIGN_OR_RETURN(const auto toolbox, ReadTools(arguments.specs));
  HONE_ASSIGN_OR_RETURN(const auto recorded, ReadJournal(arguments.journal, toolbox));
  const auto [rest, all_held_out] = SplitByEnvironment(*recorded, arguments.held_out);
  HONE_ASSIGN_OR_RETURN(auto shown, ReadJournal(arguments.shown, toolbox));
  JournaledCalls held_out = AtMostPerTool(all_held_out, arguments.per_tool);
  if (shown != nullptr) LeaveOutShown(*shown, &held_out);
  HONE_RETURN_IF_ERROR(CheckApart(arguments, held_out, toolbox));
  if (held_out.calls.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has no calls of these tools to hold out; record more, or raise "
                             "--held-out",
                             arguments.journal));
  }
  if (shown == nullptr) shown = std::make_shared<const JournaledCalls>(rest);
  HONE_ASSIGN_OR_RETURN(const auto player, NewPlayer(settings, std::move(shown)));
  const FidelityReport report =
      MeasureFidelity(held_out, *toolbox, player.get(), settings.check, 64);
  return json ? DumpJson(report.ToJson()) + "\n" : report.Table();
}

void AddCommon(Command command, SimulateArguments* arguments, bool journal_needed) {
  command.AddOption("--specs", &arguments->specs, "JSON list of tools, OpenAI function schemas")
      .Required();
  Option journal =
      command.AddOption("--journal", &arguments->journal, "what the real tools answered");
  if (journal_needed) journal.Required();
  command.AddOverrides(&arguments->overrides, "key=value, over the recipe's");
}

}  // namespace

void AddSimulate(Command program, std::shared_ptr<CommandContext> context) {
  Command simulate =
      program.AddCommand("simulate", "Record, train, measure, audit and call simulated APIs");
  simulate.NeedsCommand();
  simulate.Footer(
      "Example:\n  hone simulate record desk -n 1000 -o calls.sqlite --specs tools.json\n"
      "  hone simulate train --specs tools.json --journal calls.sqlite --out sim\n");
  auto arguments = std::make_shared<SimulateArguments>();

  Command call = simulate.AddCommand("call", "Let a simulator answer one call");
  call.AddOption("tool", &arguments->tool).Required();
  call.AddOption("arguments", &arguments->call_arguments, "a JSON object");
  call.AddOption("--simulator", &arguments->simulator, "TOML: kind, ... (default: random)");
  call.AddOption("--seed", &arguments->seed, "of the environment");
  AddCommon(call, arguments.get(), false);
  call.Footer("Example:\n  hone simulate call weather '{\"city\": \"Oslo\"}' --specs tools.json\n");
  call.Action([=] { Finish(context.get(), CallOnce(*arguments, context.get())); });

  Command train = simulate.AddCommand("train", "Train a simulator on the calls of a journal");
  train.AddOption("--out", &arguments->out, "the folder to write").Required();
  train.AddOption("--held-out", &arguments->held_out, "share of environments to leave out")
      .Between(0.0, 1.0);
  AddCommon(train, arguments.get(), true);
  train.Footer(
      "Example:\n  hone simulate train --specs tools.json --journal calls.sqlite --out sim "
      "steps=600\n");
  train.Action([=] { Finish(context.get(), TrainOne(*arguments, context->json)); });

  Command teach = simulate.AddCommand(
      "teach", "Teach a language model to play tools from descriptions and recorded calls");
  teach.AddOption("--specs", &arguments->lesson_specs, "tools of a lesson; one for all, or each")
      .Required();
  teach.AddOption("--journal", &arguments->lesson_journals, "what they answered: a lesson")
      .Required();
  teach.AddOption("--out", &arguments->out, "the folder to write").Required();
  teach.AddOverrides(&arguments->overrides, "key=value: layers, steps, examples, ...");
  teach.Footer(
      "Example:\n  hone simulate teach --specs tools.json --journal one.sqlite --journal "
      "two.sqlite "
      "--out player\n");
  teach.Action([=] { Finish(context.get(), Teach(*arguments, context->json)); });

  Command fidelity =
      simulate.AddCommand("fidelity", "Compare a simulator with recorded calls that were held out");
  fidelity.AddOption("--simulator", &arguments->simulator, "TOML: kind, ... (default: random)");
  fidelity.AddOption("--held-out", &arguments->held_out, "share of environments to compare on")
      .Between(0.0, 1.0);
  fidelity.AddOption("--shown", &arguments->shown,
                     "a journal that the player may look at (default: what is not held out)");
  fidelity.AddOption("--per-tool", &arguments->per_tool, "compare at most so many calls of each");
  fidelity.AddOption("--apart-from", &arguments->apart_from,
                     "the journal it was trained on: an environment in both is an error");
  AddCommon(fidelity, arguments.get(), true);
  fidelity.Footer(
      "Example:\n  hone simulate fidelity --specs tools.json --journal calls.sqlite "
      "kind=learned folder=sim\n");
  fidelity.Action([=] { Finish(context.get(), Measure(*arguments, context->json)); });
  AddWorldCommands(simulate, context);
}

}  // namespace hone
