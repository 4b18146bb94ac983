#include "train/stages/simulator_stage.h"

#include "evaluate/journaling.h"
#include "simulate/journaled_calls.h"
#include "simulate/simulator_options.h"

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
  Result<void> Make(StageContext* context, const std::filesystem::path& folder,
                    const MakingProgress& progress) const override {
    const auto tell = [&](const TrainingProgress& now) {
      progress(now.step, now.steps, {{"simulator/loss", now.loss}});
    };
    const Result<TrainingReport> made = MakeSimulator(settings, context, folder, tell);
    return made.ok() ? Result<void>() : Result<void>(made.error());
  }
};

}  // namespace

std::shared_ptr<Stage> ReadSimulatorStage(RecipeTable table,
                                          const EnvironmentOptions& /*environment*/) {
  SimulatorStage stage;
  table.Read("tasks", &stage.tasks, "played on the real tools for the record", AtLeast(1));
  table.Read("mistakes", &stage.mistakes, "share of the calls that go wrong there", Between(0, 1));
  stage.model = ReadLearnedOptions(table);
  return std::make_shared<SimulatorMaking>(std::move(stage));
}

Result<TrainingReport> MakeSimulator(const SimulatorStage& stage, StageContext* context,
                                     const std::filesystem::path& folder,
                                     const std::function<void(const TrainingProgress&)>& progress) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal,
                        Journal::Open(folder / kRecordedJournal));
  HONE_RETURN_IF_ERROR(context->times->Run("recording", [&]() -> Result<void> {
    const JournalingOptions recording{
        .episodes = static_cast<uint64_t>(stage.tasks),
        .mistakes = stage.mistakes,
        .seed = Rng(context->recipe->run.seed).Split("record").NextU64()};
    const auto played = JournalPlay(context->environment, recording, journal.get());
    return played.ok() ? Result<void>() : Result<void>(played.error());
  }));
  HONE_ASSIGN_OR_RETURN(const JournaledCalls recorded, context->times->Run("recording", [&] {
    return ReadRecordedCalls(journal.get(), context->environment.environment->tools());
  }));
  LearnedOptions options = stage.model;
  options.threads = static_cast<int>(context->recipe->run.threads);
  TrainingReport report;
  HONE_ASSIGN_OR_RETURN(const LearnedModel model, context->times->Run("training", [&] {
    return TrainLearnedModel(recorded, options, &report, progress);
  }));
  HONE_RETURN_IF_ERROR(model.Save(folder));
  return report;
}

}  // namespace hone
