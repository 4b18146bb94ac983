#pragma once

#include <span>
#include <vector>

#include "learn/objective_options.h"
#include "record/call.h"

// Every policy loss over one sequence: log-probabilities in, losses and derivatives out.

namespace hone {

// What the loss of a sequence is made of; all spans of one length.
struct PolicyInput {
  std::span<const float> logprobs;  // now
  std::span<const float> old;       // when the update began
  std::span<const float> advantages;
  std::span<const double> weights;  // of each token's loss: what aggregation and correction say
  double sequence_weight = 0;       // of the sequence's loss, where it is not made of tokens'
  std::span<const Span> turns;      // for ratios of turns
  std::span<const char> chosen;     // covariance losses: tokens that were chosen; else empty
};

struct PolicyOutput {
  double loss = 0;                  // weighted
  std::vector<double> derivatives;  // of it, by each log-probability
  int64_t clipped = 0;              // tokens whose ratio the loss cut
};

// Log-ratios are clamped to +- this.
inline constexpr double kMostLogRatio = 20;

// A ratio of several tokens (GSPO, LOOP's turns and trajectories) stands at each of them, with the
// derivative by its own log-probability alone, so that tokens of a sequence may differ in
// advantage; where they do not, that is the derivative of the loss, in which a turn's (or
// trajectory's) ratio counts once.
PolicyOutput PolicyLossOf(const ObjectiveOptions& options, const PolicyInput& input);

}  // namespace hone
