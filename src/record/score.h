#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/tree.h"

namespace hone {

// Why a term could not be computed, and whose fault that is: a program that hung, a judge that
// contradicted itself.
struct TermFault {
  Blame blame = Blame::kJudge;
  std::string message;

  bool operator==(const TermFault&) const = default;
};

// One named part of a reward, placed where it was earned. An absent value means "not scored" (the
// judge failed, the gold is unknown) and is not zero: it leaves every sum and every group.
struct RewardTerm {
  std::string name;             // e.g. "outcome", "which"
  std::optional<double> value;  // before the weight
  double weight = 1;
  NodeId node = kNoNode;                          // kNoNode: the trajectory as a whole
  std::optional<Span> span;                       // tokens of `node`; absent: the whole node
  std::optional<TermFault> fault = std::nullopt;  // only where there is no value

  bool operator==(const RewardTerm&) const = default;
};

// All terms of one leaf.
struct Score {
  int32_t leaf = 0;  // index into Tree::leaves
  std::vector<RewardTerm> terms;

  bool operator==(const Score&) const = default;
};

// The weighted sum of the terms that have a value; absent when none has.
std::optional<double> Total(const Score& score);
// The mean of the totals that are there; absent when none is.
std::optional<double> MeanReward(const std::vector<Score>& scores);

// Credit, per token, of one leaf: one value per token of the policy nodes on the leaf's whole path
// (WholePathTo), in path order. Tokens the policy did not draw have no entry, and so no credit.
struct Advantages {
  int32_t leaf = 0;  // index into Tree::leaves
  std::vector<float> values;

  bool operator==(const Advantages&) const = default;
};

// A tree with what later passes said of it. Scores and advantages are empty until their pass ran.
struct ScoredTree {
  Tree tree;
  std::vector<Score> scores;           // at most one per leaf
  std::vector<Advantages> advantages;  // at most one per leaf

  bool operator==(const ScoredTree&) const = default;
};

}  // namespace hone
