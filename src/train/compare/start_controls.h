#pragma once

#include "train/compare/comparison_file.h"

namespace hone {

// The same comparison with the controls that its sections ask for: the policy that rl begins with,
// measured on the test tasks without rl. "start" and "start-greedy" are read from what runs measure
// before rl. For "start@T" there are arms more, whose runs have the stages before rl and no other;
// they take those from the stage cache. Sections whose arms begin alike share them.
//
// Whose start it is: the baseline's, or the first arm's that has rl. Without any there is none. An
// arm whose recipe cannot be read has none either: PlanRuns says why.
ComparisonFile WithControls(ComparisonFile comparison);

}  // namespace hone
