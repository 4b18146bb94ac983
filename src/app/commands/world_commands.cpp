// hone simulate record, audit.

#include "app/commands/world_commands.h"

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/env_recipe.h"
#include "app/installed/shipped_files.h"
#include "app/report.h"
#include "base/file.h"
#include "base/hash.h"
#include "evaluate/journaling.h"
#include "evaluate/world_audit.h"
#include "simulate/simulator_options.h"
#include "tools/responder.h"

namespace hone {
namespace {

// More than cores, so that a model has several answers to draw at once.
constexpr int kAuditThreads = 64;

struct WorldArguments {
  std::string environment, split = "train", out, specs, simulator, journal;
  std::vector<std::string> overrides;
  uint64_t episodes = 1000, tasks = 1000, seed = 1;
  double mistakes = 0.6;
  bool gold = false;
};

bool IsOfEnvironment(std::string_view assignment) {
  for (const std::string_view table : {"environment.", "answers.", "tools."}) {
    if (assignment.starts_with(table)) return true;
  }
  return false;
}

// Generated tasks are those of the seed; what the user changes comes last and wins.
Result<LoadedEnvironment> Load(const WorldArguments& arguments,
                               const std::vector<std::string>& own) {
  std::vector<std::string> changes;
  if (!arguments.environment.ends_with(".toml")) {
    changes.push_back(fmt::format("environment.tasks.seed={}", arguments.seed));
  }
  changes.insert(changes.end(), own.begin(), own.end());
  HONE_ASSIGN_OR_RETURN(OpenedEnvironment opened,
                        OpenEnvironment({.name = arguments.environment, .overrides = changes}));
  return std::move(opened.loaded);
}

// The tools as `--specs` of the other commands reads them.
Result<void> WriteSpecs(const Environment& environment, const std::string& file) {
  Json::Array specs;
  for (const Toolbox::Tool& tool : environment.tools()->tools()) {
    if (!IsHidden(environment.traits(), tool.spec.name)) specs.push_back(tool.spec.ToJson());
  }
  return WriteFileAtomic(file, DumpJson(specs, JsonStyle::kPretty) + "\n");
}

Result<std::string> Record(const WorldArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, Load(arguments, arguments.overrides));
  HONE_ASSIGN_OR_RETURN(const Split split, SplitFromName(arguments.split));
  if (!arguments.specs.empty()) {
    HONE_RETURN_IF_ERROR(WriteSpecs(*loaded.environment, arguments.specs));
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal, Journal::Open(arguments.out));
  // Recordings that differ have runs of their own in a journal; the same one again changes nothing.
  const Json settings = Json::Of({{"environment", arguments.environment},
                                  {"set", Json::ArrayOf(arguments.overrides)},
                                  {"split", arguments.split},
                                  {"gold", arguments.gold},
                                  {"mistakes", arguments.mistakes}});
  const JournalingOptions options{
      .run = fmt::format("record-{}-{}", arguments.seed, ContentHash(settings).substr(0, 8)),
      .split = split,
      .episodes = arguments.episodes,
      .gold = arguments.gold,
      .mistakes = arguments.mistakes,
      .seed = arguments.seed};
  HONE_ASSIGN_OR_RETURN(const JournalingReport report, JournalPlay(loaded, options, journal.get()));
  return json ? DumpJson(report.ToJson()) + "\n" : report.Table();
}

Result<SimulatorOptions> ReadSettings(const WorldArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(Recipe recipe, arguments.simulator.empty()
                                           ? Recipe::Parse("", "defaults")
                                           : LoadNamedRecipe(arguments.simulator));
  for (const std::string& assignment : arguments.overrides) {
    if (!IsOfEnvironment(assignment)) recipe.Override(assignment);
  }
  SimulatorOptions settings = ReadSimulatorOptions(recipe.Root());
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return settings;
}

// Who answers in the simulated world: what was recorded, if there is a journal, and the simulator.
Result<WorldAnswers> SimulatedWorld(const WorldArguments& arguments,
                                    const std::shared_ptr<const Toolbox>& toolbox) {
  HONE_ASSIGN_OR_RETURN(const SimulatorOptions settings, ReadSettings(arguments));
  std::shared_ptr<const JournaledCalls> recorded;
  if (!arguments.journal.empty()) {
    HONE_ASSIGN_OR_RETURN(const auto journal, Journal::OpenForReading(arguments.journal));
    HONE_ASSIGN_OR_RETURN(JournaledCalls calls, ReadRecordedCalls(journal.get(), toolbox));
    recorded = std::make_shared<const JournaledCalls>(std::move(calls));
  }
  HONE_ASSIGN_OR_RETURN(auto player, NewPlayer(settings, recorded));
  const std::shared_ptr<Responder> simulator =
      NewSimulator(std::move(player), settings.check, nullptr, recorded);
  return WorldAnswers([simulator](Timeline*) { return std::vector{simulator}; });
}

Result<std::string> Audit(const WorldArguments& arguments, bool json) {
  std::vector<std::string> own = arguments.overrides;
  std::erase_if(own, [](const std::string& change) { return !IsOfEnvironment(change); });
  HONE_ASSIGN_OR_RETURN(const LoadedEnvironment loaded, Load(arguments, own));
  HONE_ASSIGN_OR_RETURN(const Split split, SplitFromName(arguments.split));
  const std::shared_ptr<const Toolbox>& toolbox = loaded.environment->tools();
  HONE_ASSIGN_OR_RETURN(const WorldAnswers simulated, SimulatedWorld(arguments, toolbox));
  std::vector<Task> tasks;
  const uint64_t end = std::min(arguments.tasks, loaded.tasks->count(split).value_or(UINT64_MAX));
  for (uint64_t i = 0; i < end; ++i) tasks.push_back(loaded.tasks->Make(split, i));
  HONE_ASSIGN_OR_RETURN(
      const WorldAudit audit,
      AuditWorld(
          loaded, tasks, simulated, RealWorld(toolbox),
          {.mistakes = arguments.mistakes, .seed = arguments.seed, .threads = kAuditThreads}));
  return json ? DumpJson(audit.ToJson()) + "\n" : audit.Table();
}

Command AddOne(Command simulate, const char* name, const char* about,
               const std::shared_ptr<WorldArguments>& arguments) {
  Command command = simulate.AddCommand(name, about);
  command.AddOption("environment", &arguments->environment, NamedEnvironments()).Required();
  command
      .AddOption("--split", &arguments->split, "train, dev, test, unseen-kinds or unseen-phrases")
      .ShowDefault();
  command
      .AddOption("--seed", &arguments->seed, "of tasks that are made, their worlds, and mistakes")
      .ShowDefault();
  command.AddOption("--mistakes", &arguments->mistakes, "share of calls that go wrong")
      .Between(0.0, 1.0)
      .ShowDefault();
  return command;
}

}  // namespace

void AddWorldCommands(Command simulate, const std::shared_ptr<CommandContext>& context) {
  auto arguments = std::make_shared<WorldArguments>();

  Command record =
      AddOne(simulate, "record", "Play against the real tools and write the calls to a journal",
             arguments);
  record.AddOption("--episodes,-n", &arguments->episodes, "how many").ShowDefault();
  record.AddFlag("--gold", &arguments->gold, "only as the tasks' plans say, without mistakes");
  record.AddOption("--out,-o", &arguments->out, "the journal; what it has is kept").Required();
  record.AddOption("--specs", &arguments->specs, "write the tools here, for the other commands");
  record.AddOverrides(&arguments->overrides,
                      "key=value, over the recipe's: environment.tasks.kinds=[\"kb\"]");
  record.Footer(
      "Example:\n  hone simulate record desk -n 20000 -o calls.sqlite --specs tools.json\n");
  record.Action([=] { Finish(context.get(), Record(*arguments, context->json)); });

  Command audit =
      AddOne(simulate, "audit", "Check whether a simulated world is fit to train in", arguments);
  audit.AddOption("--tasks,-n", &arguments->tasks, "how many").ShowDefault();
  audit.AddOption("--simulator", &arguments->simulator, "TOML: kind, ... (default: random)");
  audit.AddOption("--journal", &arguments->journal, "asked before the simulator");
  audit.AddOverrides(&arguments->overrides,
                     "key=value, over the simulator's (kind=learned), or over the environment's "
                     "(environment.tasks.kinds=[\"kb\"])");
  audit.Footer("Example:\n  hone simulate audit desk -n 1000 kind=learned folder=sim\n");
  audit.Action([=] { Finish(context.get(), Audit(*arguments, context->json)); });
}

}  // namespace hone
