#pragma once

#include <string>

#include "train/run_history.h"

namespace hone {

// What a run did and what came of it, as one page that needs nothing beside it: before and after on
// the real tools, curves, what can be checked, where the time went, alarms, examples with the
// credit of each token, the recipe.
std::string RunPage(const RunHistory& run);

// Reads the run and writes its report.html; where that is.
Result<std::filesystem::path> WriteRunPage(const std::filesystem::path& folder);

}  // namespace hone
