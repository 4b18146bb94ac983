#include "learn/record_stage.h"

namespace hone {

Result<RecordingReport> MakeRecord(const RecordStage& stage, Workshop* workshop,
                                   const std::filesystem::path& folder) {
  return workshop->times->Run("recording", [&]() -> Result<RecordingReport> {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal,
                          Journal::Open(folder / "recorded.sqlite"));
    const RecordingOptions recording{
        .episodes = static_cast<uint64_t>(stage.tasks),
        .gold = stage.gold,
        .mistakes = stage.mistakes,
        .seed = Rng(workshop->recipe->run.seed).Split("journal").NextU64()};
    return RecordPlay(workshop->environment, recording, journal.get());
  });
}

}  // namespace hone
