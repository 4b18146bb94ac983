#pragma once

#include <memory>

#include "base/recipe.h"
#include "rollout/policy.h"
#include "rollout/rollout.h"
#include "rollout/strategies.h"

namespace hone {

// How a recipe lets its policy play:
//
//   [rollout]
//   strategy = "chains"      # arpo, portool, tree-grpo; a table of that name has its settings
//   live = 256
//   retries = 2
//   turn_tokens = 256
//   thought_tokens = 0       # and thought_repeats
//   temperature = 1.0        # and top_k, top_p, min_p
//   forbid_markers = true
//   ahead = 0                # steps that are drawn before they are trained
//   carry = 0                # turns after which an episode goes on with newer weights
struct PracticeOptions {
  std::shared_ptr<const Strategy> strategy;  // null only when the recipe has problems
  RolloutOptions options;                    // run, clock and progress are the caller's
  PolicyOptions policy;                      // version is the caller's
  int64_t ahead = 0, carry = 0;              // of training only (train/stages/drawing_ahead.h)
};

// Problems are reported by Recipe::Finish. Of turns that are to be trained on, the supports are
// kept token by token: then top_p and min_p need a top_k of at most 1024, and temperature 0 cannot
// be.
PracticeOptions ReadPractice(RecipeTable table, bool training,
                             StrategyTable strategies = BuiltInStrategies());

}  // namespace hone
