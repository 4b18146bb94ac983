#pragma once

#include "train/compare/comparison_file.h"

namespace hone {

// Whether paying for calls helps can be said only beside an arm that is paid for the outcome alone.
// A section whose arms pay for more than that and that has no such arm gets a note that says so.
// Where it asks for it (outcome_control) it gets the arm, too: the baseline's recipe with rewards
// that are the outcome and credit by GRPO, its grid included.
ComparisonFile WithOutcomeArms(ComparisonFile comparison);

}  // namespace hone
