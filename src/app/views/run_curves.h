#pragma once

#include <vector>

#include "evaluate/compare/plot.h"
#include "train/run_history.h"

namespace hone {

// What was logged over the steps of a run, as pictures: those that have something to show. Alarms
// are marked.
std::vector<Plot> CurvesOf(const RunHistory& run);

}  // namespace hone
