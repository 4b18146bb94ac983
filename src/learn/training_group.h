#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "credit/credit.h"
#include "engine/logprobs.h"
#include "record/score.h"

// A group as training sees it: a bare tree for the engine, and its trajectories as sequences of
// policy tokens, each with the numbers a loss needs.

namespace hone {

// Where a token stands among the paths that the engine hands to a loss.
struct TokenPlace {
  int32_t path = 0;      // index into the leaves of the training tree
  int32_t position = 0;  // on that path; at least 1: a root's first token has no prediction

  bool operator==(const TokenPlace&) const = default;
};

// One trajectory. All vectors have one entry per token that is trained on: those of the policy that
// were drawn (not at temperature 0) and, where they are learned too, those of tools' results. Empty
// where it says so.
struct Sequence {
  int32_t leaf = 0;  // of the record's tree
  std::vector<TokenPlace> places;
  std::vector<int32_t> flat;  // index into Advantages::values of its leaf
  std::vector<float> advantages;
  std::vector<float> sampled;    // log-probabilities when the tokens were drawn
  std::vector<float> old;        // log-probabilities when the update began; at first: `sampled`
  std::vector<float> reference;  // log-probabilities under the reference; empty: none
  std::vector<float>
      old_values;              // of the critic when the update began, before each token; or empty
  std::vector<float> returns;  // what the critic is to learn; or empty
  std::vector<Span> turns;     // ranges of tokens that were written in one go

  size_t size() const { return places.size(); }
};

struct TrainingGroup {
  // For Engine::Accumulate and LogProbs. It has the record's nodes, under their numbers, without
  // what is of no use to the engine; and one leaf per path of the sequences: a trajectory whose
  // history was folded has one per segment. Without sequences it has no leaf and cannot be trained.
  Tree tree;
  std::vector<Sequence> sequences;  // in the order of their leaves; those without tokens are absent
  int64_t tokens = 0;               // of all nodes: what a pass through the engine costs
};

// The last node of each segment of the trajectory that ends at `node`, oldest first: one where the
// history was never folded.
std::vector<NodeId> SegmentEnds(const Tree& tree, NodeId node);

// The group of a tree in which Validate finds nothing wrong. Only leaves with advantages are
// trained on, and only they count anywhere. No sequence: nothing is to be learned from it.
//
// `of_results`: what the policy says of the tree now. With it the results of tools are learned as
// well: each token has the advantage of the policy's last one before it, and counts as drawn from
// the weights that are there now. Null: nobody learns what others wrote.
TrainingGroup MakeTrainingGroup(const Tree& tree, std::span<const Advantages> advantages,
                                const TreeLogprobs* of_results = nullptr);

// The advantages of the leaves that belong into the loss. Left out, and so out of every
// denominator: leaves of a group that was dropped, leaves that a filter masked, that ended by
// others' fault, or that have no credit because they were not scored. A leaf whose credit is 0
// because all of its group did equally well stays.
std::vector<Advantages> AdvantagesInLoss(const Credit& credit);

// What a model says of the record's tree, or of `group->tree` (Engine::LogProbs): as the reference;
// as the policy (and, where the model has a scalar head, the critic) at the beginning of the
// update.
void SetReference(const TreeLogprobs& tree_logprobs, TrainingGroup* group);
void SetOld(const TreeLogprobs& tree_logprobs, TrainingGroup* group);
// What the critic is to learn, as credit/ writes per-token values: one per leaf of the record.
void SetReturns(std::span<const Advantages> returns, TrainingGroup* group);

// What they say of the tokens of each sequence: log-probabilities.
std::vector<std::vector<float>> LogProbsOf(const TrainingGroup& group,
                                           const TreeLogprobs& tree_logprobs);

// The critic's value of the state in which each token was drawn, from the values after each token
// that the engine gives: those of the token before it on its path; 0 for a root's first one. What
// credit/ wants as CriticValues.
CriticValues ValuesBefore(const Tree& tree, const TreeLogprobs& tree_logprobs);

}  // namespace hone
