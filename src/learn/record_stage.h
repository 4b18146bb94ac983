#pragma once

#include "evaluate/recording.h"
#include "learn/workshop.h"

namespace hone {

// Plays training tasks on the real tools and leaves what those answered in
// `folder`/recorded.sqlite, for a run that is then answered by it. A function of the recipe and the
// seed.
Result<RecordingReport> MakeRecord(const RecordStage& stage, Workshop* workshop,
                                   const std::filesystem::path& folder);

}  // namespace hone
