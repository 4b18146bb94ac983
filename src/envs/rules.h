#pragma once

#include <memory>
#include <optional>

#include "base/recipe.h"
#include "envs/environment.h"

namespace hone {

// What an episode may use up. Absent: no limit.
//
// A turn counts as a whole. The turns, tokens and context end an episode when they are used up
// (turn_limit, token_limit); calls and money when more is used than there was (budget), so that an
// agent may still answer after its last call.
struct Budgets {
  std::optional<int64_t> turns;
  std::optional<int64_t> calls;           // the agent's; failed ones too
  std::optional<int64_t> tokens;          // that the agent wrote
  std::optional<int64_t> context_tokens;  // that the agent has before it
  std::optional<double> money;            // prices of the calls and of the tokens written
  double token_price = 0;
  bool show = false;  // tell the agent after each turn what is left
};

// What happens to a turn that cannot be read, or that says nothing.
enum class OnMistake {
  kHintAndContinue,  // the agent is told what was wrong and may try again
  kStop,             // that ends the episode: invalid, or void
};

struct Rules {
  Budgets budgets;
  OnMistake on_fault = OnMistake::kHintAndContinue;
  OnMistake on_void = OnMistake::kHintAndContinue;
};

// What the agent is told of a fault of its turn.
std::string FaultNotice(const Fault& fault);

// [rules] of a recipe; what it does not say stays as in `defaults`.
Rules ReadRules(RecipeTable table, const Rules& defaults);

// The environment with these rules around it. They hold for every kind: budgets; turns that cannot
// be read (what could be read of one is carried out, but its answer does not count); and episodes
// in which somebody else than the agent or a tool broke (a simulator, this program), which end as
// `failed` with that blame. final_state gets "used".
std::shared_ptr<const Environment> WithRules(std::shared_ptr<const Environment> inner, Rules rules);

}  // namespace hone
