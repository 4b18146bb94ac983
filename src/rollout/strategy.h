#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "base/rng.h"
#include "record/tree.h"

// Which trajectories a group has, and where they part.

namespace hone {

// A place in a group's tree where the policy can go on: behind the prompt, or behind what followed
// one of its turns.
struct Place {
  int32_t id = 0;              // of the group; 0 is the prompt
  std::string path;            // of the trajectory that came here; empty for the prompt
  int64_t turns = 0;           // of the policy up to here
  bool open = false;           // that trajectory waits here to be told whether it goes on
  bool after_results = false;  // what followed the turn before were results of its calls
  // The policy's turn before this place and the trajectory's first, as they were drawn; null for
  // the prompt. They are there as long as Next runs.
  const Node* last_turn = nullptr;
  const Node* first_turn = nullptr;
};

// A group at a moment when none of its trajectories is under way: each has ended or waits at a
// place. What it says does not depend on which of them was faster.
struct GroupView {
  Rng rng{0};              // of this moment
  int64_t leaves = 0;      // that are wanted in all
  int64_t ended = 0;       // trajectories that ended; those that are retried or dropped count once
  int64_t started = 0;     // trajectories begun, by path names; given-up ones are not counted
  int64_t vocabulary = 0;  // of the policy
  std::vector<Place> places;  // in the order of their ids, which is the order of turns, then paths
};

// So many trajectories go on from there. Of an open place the first is the one that waits; the
// others, and all from a place that is not open, are new ones that share what lies before.
struct Extension {
  int32_t place = 0;
  int64_t trajectories = 1;

  bool operator==(const Extension&) const = default;
};

struct StrategyTraits {
  std::string name;
  // Its trajectories wait for each other after each turn, since where to branch is decided for all
  // of them together. Groups never wait for groups.
  bool waits = false;
  // It comes back to places that trajectories have left.
  bool returns = false;
  // It looks at the entropies of turns.
  bool reads_entropies = false;
  // Whether sessions and episodes must be such as can be had twice.
  bool branches() const { return waits || returns; }
};

// Immutable and thread-safe; what it decides depends on the view alone.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual const StrategyTraits& traits() const = 0;
  // What happens next: at the beginning, when the prompt is the only place; then whenever nothing
  // is under way. An open place that is not named is given up: its trajectory does not count.
  // Nothing: the group is done.
  virtual std::vector<Extension> Next(const GroupView& view) const = 0;
};

// A strategy's line in the table of strategies.h.
struct RegisteredStrategy {
  std::string name;   // `strategy` in a recipe
  std::string about;  // one line
  // Reads the recipe's [rollout.NAME], which may be absent, and makes the strategy. The error is
  // one of settings that do not go together.
  std::function<Result<std::unique_ptr<Strategy>>(RecipeTable settings)> read;
};

}  // namespace hone
