#pragma once

#include "evaluate/journaling.h"
#include "train/stage.h"
#include "train/stage_context.h"

namespace hone {

// Calls of real tools are recorded, for a run that is answered by the record: `kind = "record"`.
struct JournalStage {
  int64_t tasks = 5'000;  // the first ones of train (evaluate/journaling.h)
  int64_t calls = 0;      // above 0: so many are recorded, and no more
  double mistakes = 0.6;  // share of the calls that go wrong there
  bool gold = false;      // what plans do, and nothing else
};
std::shared_ptr<Stage> ReadJournalStage(RecipeTable table, const EnvironmentOptions& environment);

// Plays training tasks on the real tools and leaves what those answered in
// `folder`/recorded.sqlite, for a run that is then answered by it. A function of the recipe and the
// seed.
Result<JournalingReport> MakeJournal(const JournalStage& stage, StageContext* context,
                                     const std::filesystem::path& folder);

}  // namespace hone
