#include "train/stages/journal_stage.h"

#include "train/stages/record_cost.h"

namespace hone {
namespace {

class Recording final : public StageOf<JournalStage> {
 public:
  using StageOf::StageOf;

  StageSize size() const override { return {}; }
  double SecondsPerStep(const EpisodeFigures& /*figures*/) const override {
    return 0;  // 60,000 episodes a second
  }
  Result<void> Make(StageContext* context, const std::filesystem::path& folder,
                    const MakingProgress& /*progress*/) const override {
    const Result<JournalingReport> made = MakeJournal(settings, context, folder);
    return made.ok() ? Result<void>() : Result<void>(made.error());
  }
};

}  // namespace

std::shared_ptr<Stage> ReadJournalStage(RecipeTable table,
                                        const EnvironmentOptions& /*environment*/) {
  JournalStage stage;
  table.Read("tasks", &stage.tasks, "played on the real tools for the record", AtLeast(1));
  table.Read("calls", &stage.calls, "that are recorded at most; 0: all", AtLeast(0));
  table.Read("gold", &stage.gold, "as plans say, and nothing else");
  if (!stage.gold) {
    table.Read("mistakes", &stage.mistakes, "share of the calls that go wrong there",
               Between(0, 1));
  }
  return std::make_shared<Recording>(stage);
}

Result<JournalingReport> MakeJournal(const JournalStage& stage, StageContext* context,
                                     const std::filesystem::path& folder) {
  return context->times->Run("recording", [&]() -> Result<JournalingReport> {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal,
                          Journal::Open(folder / kRecordedJournal));
    const JournalingOptions recording{
        .episodes = static_cast<uint64_t>(stage.tasks),
        .calls = stage.calls,
        .gold = stage.gold,
        .mistakes = stage.mistakes,
        .seed = Rng(context->recipe->run.seed).Split("journal").NextU64(),
        .stop = context->stop,
        .progress = context->ProgressOf("recording")};
    HONE_ASSIGN_OR_RETURN(JournalingReport played,
                          JournalPlay(context->environment, recording, journal.get()));
    HONE_RETURN_IF_ERROR(NoteRecordedCalls(folder, played.by_tool));
    return played;
  });
}

}  // namespace hone
