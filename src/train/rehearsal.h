#pragma once

#include <span>
#include <string>

#include "record/score.h"
#include "train/stage_context.h"

// What can be known to fail before anything is computed.

namespace hone {

// The keys of endpoints are there and, where `knock`, somebody answers there; an episode can be
// opened; whoever is to show how tasks are done can do so; a program that gives rewards scores one
// episode. Each error says what to change.
Result<void> Rehearse(const TrainingRecipe& recipe, StageContext* context, bool knock);

// An error where nothing could be scored and a judge is to blame: it has the judge's own words.
// Success where anything was scored, or there was nothing to score.
Result<void> CheckJudge(std::span<const ScoredTree> records);

}  // namespace hone
