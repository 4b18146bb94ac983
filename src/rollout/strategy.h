#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/rng.h"

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
  // Of the first tokens of the turn before (kArpoTokens of them), summed, in units of the
  // logarithm of the vocabulary; and of the trajectory's first turn. 0 for the prompt.
  double entropy = 0;
  double first_entropy = 0;
};

// A group at a moment when none of its trajectories is under way: each has ended or waits at a
// place. What it says does not depend on which of them was faster.
struct GroupView {
  Rng rng{0};           // of this moment
  int64_t leaves = 0;   // that are wanted in all
  int64_t ended = 0;    // trajectories that ended; those that are retried or dropped count once
  int64_t started = 0;  // trajectories begun, by path names; given-up ones are not counted
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

// A star: as many independent trajectories as leaves are wanted.
std::unique_ptr<Strategy> NewChains();

// ARPO: branches where the entropy rose after a tool's answer (docs/rollout.md). `initial`
// trajectories begin; after each turn an open one branches when u - weight (H - H0) is at most
// `branch_probability`, u uniform, until there are as many as leaves are wanted; when all have
// ended and some are missing, fresh ones begin.
struct ArpoOptions {
  int64_t initial = 0;  // 0: half of the leaves
  int64_t beam = 2;     // a trajectory goes on as at most so many
  double weight = 0.2;  // of the entropy's rise
  double branch_probability = 0.5;
};
inline constexpr int64_t kArpoTokens = 20;  // that the entropy is summed over
Result<std::unique_ptr<Strategy>> NewArpo(const ArpoOptions& options);

// PORTool: all leaves begin at the prompt; after each turn every open trajectory offers `forks`
// continuations, and as many as trajectories are open are kept, by lot. Which are kept is known
// before they are drawn, so that no token is drawn in vain; a trajectory none of whose
// continuations is kept is given up.
struct PortoolOptions {
  int64_t forks = 2;
};
Result<std::unique_ptr<Strategy>> NewPortool(const PortoolOptions& options);

// Tree-GRPO: `trees` trajectories begin; then `rounds` times, for each of them, `expansions` places
// on it and its branches (the prompt among them) are chosen by lot with replacement, and a new
// trajectory goes on from each. So a group has trees * (1 + rounds * expansions) leaves, whatever
// is wanted.
struct TreeGrpoOptions {
  int64_t trees = 2;
  int64_t expansions = 2;
  int64_t rounds = 1;
};
Result<std::unique_ptr<Strategy>> NewTreeGrpo(const TreeGrpoOptions& options);

// By name, as it comes: chains, arpo, portool, tree-grpo.
Result<std::unique_ptr<Strategy>> NewStrategy(std::string_view name);
std::vector<std::pair<std::string, std::string>> BuiltInStrategies();  // with a line about each

}  // namespace hone
