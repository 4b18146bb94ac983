#include "train/stages/simulator_stage.h"

#include <filesystem>

#include <fmt/format.h>

#include "evaluate/journaling.h"
#include "rollout/chains.h"
#include "rollout/rollout.h"
#include "simulate/journaled_calls.h"
#include "simulate/simulator_options.h"
#include "train/processes/shared_answers.h"
#include "train/stages/record_cost.h"

namespace hone {
namespace {

class SimulatorMaking final : public StageOf<SimulatorStage> {
 public:
  using StageOf::StageOf;

  StageSize size() const override {
    return {.steps = settings.model.steps, .expected_steps = settings.model.steps};
  }
  double SecondsPerStep(const EpisodeFigures& figures) const override {
    // A call with its answer is about half as long as an episode, and the model about as large.
    return static_cast<double>(settings.model.batch) * figures.tokens / 2 /
           figures.train_tokens_per_second;
  }
  bool needs_policy() const override { return settings.by_policy; }
  Result<void> Make(StageContext* context, const std::filesystem::path& folder,
                    const MakingProgress& progress) const override {
    const auto tell = [&](const TrainingProgress& now) {
      progress(now.step, now.steps, {{"simulator/loss", now.loss}});
    };
    const Result<TrainingReport> made = MakeSimulator(settings, context, folder, tell);
    return made.ok() ? Result<void>() : Result<void>(made.error());
  }
};

using CallsByTool = std::map<std::string, int64_t>;

// What whoever shows how to do it calls, and what is answered.
Result<CallsByTool> RecordTeacher(const SimulatorStage& stage, StageContext* context,
                                  Journal* journal) {
  const JournalingOptions recording{
      .episodes = static_cast<uint64_t>(stage.tasks),
      .calls = stage.calls,
      .mistakes = stage.mistakes,
      .seed = Rng(context->recipe->run.seed).Split("record").NextU64(),
      .stop = context->stop,
      .progress = context->ProgressOf("recording")};
  HONE_ASSIGN_OR_RETURN(const JournalingReport played,
                        JournalPlay(context->environment, recording, journal));
  return played.by_tool;
}

// The tasks that the policy plays for the record: the next ones of the curriculum, so that a world
// that changes is recorded as it is by then.
Result<std::vector<GroupRequest>> TasksForThePolicy(const SimulatorStage& stage,
                                                    const StageContext& context) {
  const std::string policy = context.engine->WeightsHash().substr(0, 12);
  Rng rng = Rng(context.recipe->run.seed).Split("refresh").Split(policy);
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Curriculum> curriculum,
                        context.OpenCurriculum(*context.environment.tasks));
  std::vector<GroupRequest> requests;
  for (const uint64_t number : curriculum->Sample(0, static_cast<size_t>(stage.tasks))) {
    requests.push_back({.task = context.environment.tasks->Make(Split::kTrain, number),
                        .seed = rng.NextU64(),
                        .scope = fmt::format("refresh-{}-{}", policy, requests.size())});
  }
  return requests;
}

// How often each tool was asked for what a journal has.
Result<CallsByTool> CallsIn(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal, Journal::OpenForReading(file));
  HONE_ASSIGN_OR_RETURN(const JournalStatistics statistics, journal->Statistics());
  CallsByTool calls;
  for (const ToolStatistics& tool : statistics.tools) calls[tool.tool] = tool.calls;
  return calls;
}

// The same of the policy, on top of what is there.
Result<CallsByTool> RecordPolicy(const SimulatorStage& stage, StageContext* context,
                                 const std::filesystem::path& file) {
  const TrainingRecipe& recipe = *context->recipe;
  HONE_ASSIGN_OR_RETURN(const CallsByTool before, CallsIn(file));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> real,
                        Backend::Real(recipe, context->environment, file));
  HONE_ASSIGN_OR_RETURN(const Policy policy,
                        context->PolicyAt(recipe.rollout.policy.sampling.temperature, 0));
  RolloutOptions options = recipe.rollout.options;
  options.run = recipe.run.name;
  const std::unique_ptr<Strategy> each = NewChains();
  HONE_ASSIGN_OR_RETURN(const Rollout rollout,
                        Rollout::New(std::move(options), context->environment.environment.get(),
                                     policy, each.get(), real->executor()));
  HONE_ASSIGN_OR_RETURN(std::vector<GroupRequest> tasks, TasksForThePolicy(stage, *context));
  HONE_ASSIGN_OR_RETURN(const RolloutResult played, rollout.Run(std::move(tasks)));
  // What was refused before any tool was asked is not in the journal, and costs nothing.
  HONE_ASSIGN_OR_RETURN(CallsByTool calls, CallsIn(file));
  for (const auto& [tool, count] : before) calls[tool] -= count;
  return calls;
}

// The journal of the simulator that is there, as the beginning of the next one's.
Result<void> CopyRecord(const StageContext& context, const std::filesystem::path& to) {
  const std::filesystem::path from = context.simulator / kRecordedJournal;
  std::error_code failed = std::make_error_code(std::errc::no_such_file_or_directory);
  if (!context.simulator.empty())
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, failed);
  if (!failed) return {};
  return Error(ErrorCode::kNotFound,
               fmt::format("{}: {}; played_by = \"policy\" adds to the record of an earlier stage "
                           "of kind \"simulator\"",
                           from.string(), failed.message()));
}

Result<void> Record(const SimulatorStage& stage, StageContext* context,
                    const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kRecordedJournal;
  CallsByTool calls;
  if (stage.by_policy) {
    HONE_RETURN_IF_ERROR(CopyRecord(*context, file));
    HONE_ASSIGN_OR_RETURN(calls, RecordPolicy(stage, context, file));
  } else {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal, Journal::Open(file));
    HONE_ASSIGN_OR_RETURN(calls, RecordTeacher(stage, context, journal.get()));
  }
  return NoteRecordedCalls(folder, calls);
}

}  // namespace

std::shared_ptr<Stage> ReadSimulatorStage(RecipeTable table,
                                          const EnvironmentOptions& /*environment*/) {
  SimulatorStage stage;
  table.Read("tasks", &stage.tasks, "played on the real tools for the record", AtLeast(1));
  table.Read("calls", &stage.calls, "that are recorded at most; 0: all", AtLeast(0));
  std::string played_by = "teacher";
  table.ReadChoice("played_by", &played_by, {"teacher", "policy"},
                   "policy: the policy plays, and its calls are added to the record so far");
  stage.by_policy = played_by == "policy";
  if (!stage.by_policy) {
    table.Read("mistakes", &stage.mistakes, "share of the calls that go wrong there",
               Between(0, 1));
  } else if (stage.calls > 0) {
    table.Problem("calls", "is of played_by = \"teacher\"; the policy plays its tasks to the end");
  }
  table.Read("slices", &stage.slices,
             "of a step, whose gradients are added up: so many processes may share it", AtLeast(1));
  stage.model = ReadLearnedOptions(table);
  return std::make_shared<SimulatorMaking>(std::move(stage));
}

Result<TrainingReport> MakeSimulator(const SimulatorStage& stage, StageContext* context,
                                     const std::filesystem::path& folder,
                                     const std::function<void(const TrainingProgress&)>& progress) {
  HONE_RETURN_IF_ERROR(
      context->times->Run("recording", [&] { return Record(stage, context, folder); }));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal,
                        Journal::Open(folder / kRecordedJournal));
  HONE_ASSIGN_OR_RETURN(const JournaledCalls recorded, context->times->Run("recording", [&] {
    return ReadRecordedCalls(journal.get(), context->environment.environment->tools());
  }));
  LearnedOptions options = stage.model;
  options.threads = static_cast<int>(context->recipe->run.threads);
  SharedAnswers slices(stage.slices, context->cluster);
  options.slices = &slices;
  TrainingReport report;
  HONE_ASSIGN_OR_RETURN(const LearnedModel model, context->times->Run("training", [&] {
    return TrainLearnedModel(recorded, options, &report, progress);
  }));
  HONE_RETURN_IF_ERROR(model.Save(folder));
  return report;
}

}  // namespace hone
