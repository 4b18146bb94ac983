#pragma once

#include "evaluate/recording.h"
#include "learn/stage.h"
#include "learn/workshop.h"

namespace hone {

// Calls of real tools are recorded, for a run that is answered by the record: `kind = "record"`.
struct RecordStage {
  int64_t tasks = 5'000;  // the first ones of train (evaluate/recording.h)
  double mistakes = 0.6;  // share of the calls that go wrong there
  bool gold = false;      // what plans do, and nothing else
};
std::shared_ptr<Stage> ReadRecordStage(RecipeTable table, const EnvironmentPlan& environment);

// Plays training tasks on the real tools and leaves what those answered in
// `folder`/recorded.sqlite, for a run that is then answered by it. A function of the recipe and the
// seed.
Result<RecordingReport> MakeRecord(const RecordStage& stage, Workshop* workshop,
                                   const std::filesystem::path& folder);

}  // namespace hone
