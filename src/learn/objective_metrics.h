#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hone {

// What was measured of a mini-batch, before its step. Means are over the tokens in the loss.
struct ObjectiveMetrics {
  int64_t sequences = 0;
  int64_t tokens = 0;     // in the loss, per path
  int64_t ratio_one = 0;  // of them, with a ratio of exactly 1.0 to the policy that drew them
  double loss = 0;        // the sum of the four below
  double policy_loss = 0;
  double kl_loss = 0;
  double entropy_loss = 0;
  double value_loss = 0;
  double clip_fraction = 0;  // share of tokens whose ratio the loss cut
  double approx_kl = 0;      // mean of old - new log-probability
  double reference_kl = 0;   // mean of the estimator; 0 without a reference
  double entropy = 0;        // mean, in nats
  double mean_ratio = 0;     // of tokens, to the old policy
  double max_ratio = 0;
  double mean_weight = 0;  // of the correction
  double value_clip_fraction = 0;
  int64_t vetoed = 0;   // sequences left out by the correction
  int64_t limited = 0;  // tokens that low_probability held back

  // Names people know ("clip_fraction", "kl", ...) with their values, for logs.
  std::vector<std::pair<std::string, double>> Named() const;
};

// Of sums that are not means yet, over some of the groups of a mini-batch: adds those over others.
void AddSums(const ObjectiveMetrics& more, ObjectiveMetrics* sums);

// The mean of several mini-batches, weighted by their tokens; counts are added, maxima kept.
ObjectiveMetrics Combine(std::span<const ObjectiveMetrics> parts);

}  // namespace hone
