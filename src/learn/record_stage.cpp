#include "learn/record_stage.h"

namespace hone {
namespace {

class Recording final : public StageOf<RecordStage> {
 public:
  using StageOf::StageOf;

  StageSize size() const override { return {}; }
  double SecondsPerStep(const EpisodeFigures& /*figures*/) const override {
    return 0;  // 60,000 episodes a second
  }
  Result<void> Make(Workshop* workshop, const std::filesystem::path& folder,
                    const MakingProgress& /*progress*/) const override {
    const Result<RecordingReport> made = MakeRecord(settings, workshop, folder);
    return made.ok() ? Result<void>() : Result<void>(made.error());
  }
};

}  // namespace

std::shared_ptr<Stage> ReadRecordStage(RecipeTable table, const EnvironmentPlan& /*environment*/) {
  RecordStage stage;
  table.Read("tasks", &stage.tasks, "played on the real tools for the record", AtLeast(1));
  table.Read("gold", &stage.gold, "as plans say, and nothing else");
  if (!stage.gold) {
    table.Read("mistakes", &stage.mistakes, "share of the calls that go wrong there",
               Between(0, 1));
  }
  return std::make_shared<Recording>(stage);
}

Result<RecordingReport> MakeRecord(const RecordStage& stage, Workshop* workshop,
                                   const std::filesystem::path& folder) {
  return workshop->times->Run("recording", [&]() -> Result<RecordingReport> {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal,
                          Journal::Open(folder / kRecordedJournal));
    const RecordingOptions recording{
        .episodes = static_cast<uint64_t>(stage.tasks),
        .gold = stage.gold,
        .mistakes = stage.mistakes,
        .seed = Rng(workshop->recipe->run.seed).Split("journal").NextU64()};
    return RecordPlay(workshop->environment, recording, journal.get());
  });
}

}  // namespace hone
