// hone train.

#include <fmt/format.h>

#include "app/cluster_setup.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/device_option.h"
#include "app/installed/shipped_files.h"
#include "app/interrupts.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "app/views/run_page.h"
#include "app/views/train_progress.h"
#include "base/file.h"
#include "train/folder/run_folder.h"
#include "train/processes/worker.h"
#include "train/run_estimate.h"

namespace hone {
namespace {

struct TrainArguments {
  std::string recipe;
  std::vector<std::string> overrides;
  std::optional<DeviceKind> device;
  bool plan = false, quiet = false;
};

// A recipe's file, or the folder of a run, which goes on where it lies now.
Result<Recipe> RecipeNamed(const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(name, ignored)) return LoadNamedRecipe(name);
  const std::filesystem::path run = std::filesystem::weakly_canonical(name, ignored);
  if (!Exists(run / "recipe.toml")) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{} is a folder without recipe.toml; name a recipe, or the folder of "
                             "a run",
                             name));
  }
  HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(run / "recipe.toml"));
  const auto say = [&](const char* key, const std::string& value) {
    recipe.Override(fmt::format("{}={}", key, DumpJson(value)));
  };
  say("run.out", run.parent_path().string());
  say("run.name", run.filename().string());
  if (!CheckpointsIn(run).empty()) say("run.resume", "auto");
  // What stages made lies where it lay, or is made again.
  HONE_ASSIGN_OR_RETURN(Recipe as_it_was, Recipe::Load(run / "recipe.toml"));
  std::string cache;
  as_it_was.Root().Table("run").Read("cache", &cache, "");
  if (!Exists(cache)) say("run.cache", "");
  if (Exists(run / "journal.sqlite")) say("answers.journal", (run / "journal.sqlite").string());
  return recipe;
}

// What the others say, the first one shows.
Result<std::string> WorkIn(Cluster* cluster, const TrainingRecipe& recipe) {
  WatchInterrupts();
  const Result<void> worked = Work(recipe, cluster);
  cluster->Close();
  return worked.ok() ? Result<std::string>(std::string()) : Result<std::string>(worked.error());
}

Result<std::string> TrainRecipe(const TrainArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(Recipe file, RecipeNamed(arguments.recipe));
  for (const std::string& assignment : arguments.overrides) file.Override(assignment);
  if (arguments.device) {
    file.Override(fmt::format("model.device={}", DeviceKindName(*arguments.device)));
  }
  HONE_ASSIGN_OR_RETURN(TrainingRecipe recipe, ReadTrainingRecipe(&file));
  if (arguments.plan) {
    ProgressBar bar(stderr);
    const auto progress = [&](std::string_view part, int64_t done, int64_t all) {
      bar.Show(part, done, all);
    };
    HONE_ASSIGN_OR_RETURN(const RunEstimate estimate, EstimateRun(recipe, {.progress = progress}));
    bar.Erase();
    return json ? DumpJson(estimate.ToJson()) + "\n" : estimate.Table();
  }
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Cluster> cluster, JoinCluster(&recipe));
  if (!cluster->leads()) return WorkIn(cluster.get(), recipe);
  const ProgressStyle style = arguments.quiet ? ProgressStyle::kQuiet
                              : json          ? ProgressStyle::kPrograms
                                              : ProgressStyle::kPeople;
  const auto progress = NewTrainProgress(style, stdout);
  EndAtInterrupts(
      "\nhone: interrupted while the run was set up; nothing was computed, and the same command "
      "begins again\n");
  const Result<TrainReport> report = Train(recipe, {.observer = progress.get(),
                                                    .stop = Interrupted,
                                                    .ready = WatchInterrupts,
                                                    .cluster = cluster.get()});
  cluster->Close();
  if (!report.ok()) return report.error();
  const Result<std::filesystem::path> page = WriteRunPage(recipe.Folder());
  if (json) return DumpJson(TrainSummaryJson(*report)) + "\n";
  return TrainSummary(recipe, *report, Terminal::Of(stdout)) +
         (page.ok() ? fmt::format("\nreport {}\n", page->string())
                    : fmt::format("\nthere is no report: {}\n", page.error().message()));
}

}  // namespace

void AddTrain(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<TrainArguments>();
  Command train = program.AddCommand("train", "Train an agent as a recipe says");
  train
      .AddOption("recipe", &arguments->recipe,
                 "TOML (recipes/quickstart.toml), or the folder of a run that goes on")
      .Required();
  train.AddOverrides(&arguments->overrides, "key=value, over the recipe's");
  AddDeviceOption(train, &arguments->device);
  train.AddFlag("--plan", &arguments->plan,
                "say what it will take (memory, time, disk, money), and do nothing");
  train.AddFlag("--quiet,-q", &arguments->quiet, "say nothing but the end");
  train.Footer(
      "Interrupted once it finishes its step and saves; the same command goes on from there.\n"
      "Example:\n  hone train recipes/quickstart.toml run.seed=2 run.name=second\n");
  train.Action([=] { Finish(context.get(), TrainRecipe(*arguments, context->json)); });
}

}  // namespace hone
