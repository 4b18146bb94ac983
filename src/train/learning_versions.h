#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/json.h"

namespace hone {

struct TrainingRecipe;

// A part of the program that makes something else of the same recipe than it once did. Whoever
// changes what a part learns writes that down in LearningVersions, in the same commit; runs that
// use the part are then other runs than those that were made before, and all others stay valid.
struct LearningVersion {
  // stage, method, loss, reward, environment, strategy, simulator, curriculum, dialect; schedule
  // (trajectories: they end a stage), practice (again: in several stages), kl (reward: it is taken
  // off there), replay (on)
  std::string_view part;
  std::string_view name;  // of a stage, a method, ...: as recipes name it
  int64_t version = 1;    // parts that are not listed have 1
  std::string_view why;   // what is different since
};

// The parts that are not as they were at first.
std::span<const LearningVersion> LearningVersions();

// The versions of the parts that a recipe uses, as far as they are listed: {"method/grpo": 2}.
Json VersionsOf(const TrainingRecipe& recipe, std::span<const LearningVersion> versions);
// The same of one stage, its environment and the dialect.
Json VersionsOfStage(const TrainingRecipe& recipe, size_t number,
                     std::span<const LearningVersion> versions);

}  // namespace hone
