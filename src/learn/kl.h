#pragma once

#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "learn/objective_options.h"
#include "learn/training_group.h"

// How far the policy is from a reference, token by token, with d = log p - log p_reference.

namespace hone {

struct KlTerm {
  double value = 0;
  double derivative = 0;  // by the log-probability of the policy
};

// The estimator at d. k3 has d clamped to +-20 and its value to 10.
KlTerm KlOf(const KlOptions& options, double d);

// The penalty -coefficient * k of every policy token as a reward: a term "kl" per token, placed on
// it, to be added to the record *before* credit is assigned. Methods read it where their selection
// of terms has it ("grpo:terms=outcome+kl"; the gae methods read all). `reference`: the
// reference's, of the record's own tree; k of the log-probabilities that the tokens were drawn
// with. Leaves without a score get none.
void AddKlTerms(const KlOptions& options, double coefficient, const TreeLogprobs& reference,
                ScoredTree* record);

// Moves the coefficient so that the measured KL stays at a target.
class KlController {
 public:
  explicit KlController(const KlOptions& options)
      : options_(options), coefficient_(options.coefficient) {}

  double coefficient() const { return coefficient_; }
  // After a step of `trajectories` that measured `kl`. Nothing changes without a target.
  void Observe(double kl, int64_t trajectories);

  Json ToJson() const;
  Result<void> Restore(const Json& state);

 private:
  KlOptions options_;
  double coefficient_;
};

}  // namespace hone
