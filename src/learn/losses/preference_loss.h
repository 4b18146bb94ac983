#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"

// Learning from pairs, one of which is preferred (DPO): the policy is to like the chosen one more
// than a reference does, and the rejected one less.

namespace hone {

struct PreferenceOptions {
  double beta = 0.1;             // how far from the reference a preference carries
  double label_smoothing = 0;    // share of pairs that are taken to be the wrong way round
  int64_t call_tokens = 16'384;  // of one call of the engine, at most; a pair is never split
};

// Both are from ForImitation (learn/sft.h), behind the same beginning.
struct PreferencePair {
  Tree chosen, rejected;
};

// log p of what the policy says in each, summed.
struct PairLogprobs {
  double chosen = 0, rejected = 0;
};

// The loss of one pair, and its derivative by the chosen log p. That by the rejected one is its
// negative. With h = beta ((chosen - reference's) - (rejected - reference's)) and smoothing e the
// loss is -(1 - e) log sigmoid(h) - e log sigmoid(-h).
struct PreferenceTerm {
  double loss = 0, derivative = 0;
  double chosen_reward = 0, rejected_reward = 0;  // beta (log p - reference's)

  double Margin() const { return chosen_reward - rejected_reward; }
};
PreferenceTerm PreferenceTermOf(const PreferenceOptions& options, const PairLogprobs& policy,
                                const PairLogprobs& reference);

// Means over the pairs of a step.
struct PreferenceMetrics {
  int64_t pairs = 0, tokens = 0;
  double loss = 0;
  double accuracy = 0;  // pairs whose margin is above 0
  double margin = 0, chosen_reward = 0, rejected_reward = 0;

  void Add(const PreferenceTerm& term);
};

// What an engine says of pairs: `logprobs` has two entries per pair, as TreesOf puts them.
std::vector<Tree> TreesOf(std::span<const PreferencePair> pairs);
std::vector<PairLogprobs> PairLogprobsOf(std::span<const PreferencePair> pairs,
                                         std::span<const TreeLogprobs> logprobs);

// One step through the engine, ready for Engine::Step: the mean loss of the pairs, with what the
// reference says of each.
PreferenceMetrics AccumulatePreferences(const PreferenceOptions& options,
                                        std::span<const PreferencePair> pairs,
                                        std::span<const PairLogprobs> reference, Engine* engine);

}  // namespace hone
