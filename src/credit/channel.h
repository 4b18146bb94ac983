#pragma once

#include <functional>
#include <span>
#include <string>

#include "credit/credit.h"
#include "credit/group.h"
#include "credit/normaliser.h"
#include "credit/reward_values.h"
#include "credit/token_mask.h"

namespace hone {

// What a value belongs to.
enum class Unit {
  kTrajectory,
  kTurn,
  kAction,  // a call, readable or not, or a fold; behind them, calls that were left out (CallSums)
};

// With whom a value is compared. Values of different trees are never compared.
enum class GroupKey {
  kTree,      // everybody in the tree
  kPosition,  // the same number of the unit in its trajectory: the first calls, the second calls
  kState,     // turns: the same observation before them
  kSubtree,   // trajectories: the same first turn
};

// A stream of credit: values, compared in groups and written onto tokens. Methods have one or two.
struct Channel {
  std::string name;
  Unit unit = Unit::kTrajectory;
  // The terms: one number per unit, or none where it is not scored.
  std::function<UnitValues(const Group&)> values;
  // Who takes part; empty: everybody. Those that do not are in no statistic and get nothing.
  std::function<bool(const Group&, const Trajectory&)> gate;
  GroupKey key = GroupKey::kTree;
  Normaliser normaliser;
  double weight = 1;
  // Of the group, times `weight`; empty: 1. For weights of terms that act after the comparison,
  // where the values come without them.
  std::function<double(const Group&)> group_weight;
  TokenMask mask = TokenMask::kAll;
  ActionReach reach = ActionReach::kAction;
  // Advantages whose sign contradicts the value become 0: positive values are never punished,
  // others never paid.
  bool keep_sign = false;
};

// Writes the channel's credit of all groups of a batch. A batch matters only to normalisers that
// look at all of it.
void ApplyChannel(const Channel& channel, std::span<const Group> groups,
                  std::span<CreditBuilder> builders);

}  // namespace hone
