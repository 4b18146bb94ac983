#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "record/score.h"

// A scored tree as credit assignment sees it: trajectories with their turns and actions, each with
// the place of its tokens among the policy tokens of the trajectory ("flat" positions, the order
// of Advantages::values).

namespace hone {

enum class ActionKind {
  kCall,   // a call that could be read
  kFault,  // a call that could not
  kFold,   // a turn that folded the history
};

struct Action {
  ActionKind kind = ActionKind::kCall;
  int32_t turn = 0;   // index into Trajectory::turns
  Span span;          // in the tokens of the turn's node
  Span tokens;        // flat
  Span thought = {};  // flat: the thought right before it in its turn; empty: none
};

// A policy node on a trajectory's path.
struct Turn {
  NodeId node = kNoNode;
  Span tokens;           // flat
  Span actions;          // indices into Trajectory::actions
  int32_t round = 0;     // messages of the user on the path before it, the prompt's not counted
  bool faulty = false;   // an action of it could not be read
  bool executed = true;  // every call of it was answered without an error
};

struct Trajectory {
  int32_t leaf = 0;
  const Score* score = nullptr;  // null: not scored
  // Whether it takes part at all: false when it ended by the fault of somebody else than the
  // agent, or was interrupted. Such trajectories are in no statistic and get no credit.
  bool counts = true;
  std::vector<Turn> turns;
  std::vector<Action> actions;  // in the order of their tokens
  int32_t tokens = 0;           // policy tokens
  int32_t length = 0;           // all tokens from the first policy token on, all segments
  int32_t before_result = 0;    // policy tokens before the first tool node; all without one
  bool has_result = false;      // there is a tool node
  bool folded = false;          // its path crosses a fold

  int32_t Calls() const;  // actions that are no folds
};

// A critic's value of every token of every node: [node][token], empty for nodes that have none.
using CriticValues = std::vector<std::vector<float>>;

struct Group {
  const ScoredTree* record = nullptr;
  const CriticValues* values = nullptr;  // null: no critic
  std::vector<Trajectory> trajectories;  // one per leaf, in their order

  const Tree& tree() const { return record->tree; }
};

// The group of a record in which Validate found nothing wrong. The record must outlive it. A tree
// whose paths hold more than 2^30 policy tokens in all is refused: credit is per path.
Result<Group> GroupOf(const ScoredTree& record, const CriticValues* values = nullptr);

// Where a term was earned on a trajectory, as indices; -1: not on a single one.
struct TermPlace {
  int32_t turn = -1;
  int32_t action = -1;
};
TermPlace PlaceOf(const RewardTerm& term, const Trajectory& trajectory);

// A hash of what the policy read between the turn before and this one: equal observations give
// equal states.
uint64_t ObservationHash(const Group& group, const Trajectory& trajectory, int32_t turn);

}  // namespace hone
