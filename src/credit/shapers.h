#pragma once

#include "credit/method.h"

// Changes to the sum of all channels.

namespace hone {

// Mean 0 and deviation 1 over all policy tokens of the batch that take part: minus the mean, times
// 1/sqrt(variance + 1e-8). Nothing happens with fewer than two tokens.
Shaper WhitenTokens();

// (A - mean) / (deviation + 1e-6) over the trajectories of the batch, each counted once; for
// credit that is the same on all tokens of a trajectory.
Shaper NormaliseTrajectories();

// Into [-limit, limit].
Shaper ClipCredit(double limit);

// Only the `share` of the batch's tokens with the highest entropy keeps its credit.
Shaper KeepHighEntropy(double share);

// Every token that trajectories share gets the mean of their values.
Shaper AverageSharedTokens();

}  // namespace hone
