#include "learn/simulator_stage.h"

#include "evaluate/recording.h"
#include "simulate/recorded_calls.h"

namespace hone {
Result<TrainingReport> MakeSimulator(const SimulatorStage& stage, Workshop* workshop,
                                     const std::filesystem::path& folder,
                                     const std::function<void(const TrainingProgress&)>& progress) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal,
                        Journal::Open(folder / "recorded.sqlite"));
  HONE_RETURN_IF_ERROR(workshop->times->Run("recording", [&]() -> Result<void> {
    const RecordingOptions recording{
        .episodes = static_cast<uint64_t>(stage.tasks),
        .mistakes = stage.mistakes,
        .seed = Rng(workshop->recipe->run.seed).Split("record").NextU64()};
    const auto played = RecordPlay(workshop->environment, recording, journal.get());
    return played.ok() ? Result<void>() : Result<void>(played.error());
  }));
  HONE_ASSIGN_OR_RETURN(const RecordedCalls recorded, workshop->times->Run("recording", [&] {
    return ReadRecordedCalls(journal.get(), workshop->environment.environment->tools());
  }));
  LearnedOptions options = stage.model;
  options.threads = static_cast<int>(workshop->recipe->run.threads);
  TrainingReport report;
  HONE_ASSIGN_OR_RETURN(const LearnedModel model, workshop->times->Run("training", [&] {
    return TrainLearnedModel(recorded, options, &report, progress);
  }));
  HONE_RETURN_IF_ERROR(model.Save(folder));
  return report;
}

}  // namespace hone
