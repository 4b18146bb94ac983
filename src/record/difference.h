#pragma once

#include <optional>
#include <string>

#include "record/score.h"

namespace hone {

// Where two records of one group part, for people and programs. What does not apply is absent.
struct RecordDifference {
  std::string
      part;  // "task", "tokens", "logprobs", "calls", "results", "rewards", "advantages" ...
  std::optional<int32_t> trajectory;  // index into Tree::leaves: the first that it belongs to
  std::optional<NodeId> node;
  std::optional<int64_t> index;  // of the token, call, result or term
  std::string derived, stored;   // what each of them says there

  // "trajectory 2, node 5, token 7"; empty: the group as a whole.
  std::string Place() const;

  bool operator==(const RecordDifference&) const = default;
};

// The first difference in the order in which a group comes about: the task, turn by turn what tools
// said, what was drawn and with which probability, how trajectories ended, rewards, advantages.
// Floating-point numbers must have the same bits. How long calls took is not compared: it is not
// derived from anything.
std::optional<RecordDifference> FirstDifference(const ScoredTree& derived,
                                                const ScoredTree& stored);

}  // namespace hone
