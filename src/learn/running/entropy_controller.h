#pragma once

#include <optional>

#include "base/json.h"
#include "base/result.h"
#include "learn/objective_options.h"

namespace hone {

// Moves the coefficient of the entropy bonus so that entropy does not stay below a target: up by a
// constant after every step at or below it, down after every other, from 0 to a maximum; and the
// bonus is given only while entropy is at or below the target (Skywork-OR1, arXiv 2505.22312; TRL,
// trl/trainer/grpo_trainer.py, use_adaptive_entropy).
class EntropyController {
 public:
  explicit EntropyController(const ObjectiveOptions& options)
      : target_(options.entropy_target), initial_(options.entropy), coefficient_(options.entropy) {}

  // Of the next step: without a target what the recipe says.
  double coefficient() const;
  // After a step that measured this entropy per token, in nats. Nothing changes without a target.
  void Observe(double entropy);

  Json ToJson() const;
  Result<void> Restore(const Json& state);

 private:
  EntropyTarget target_;
  double initial_;
  double coefficient_;
  std::optional<double> last_;  // entropy; absent: none was measured yet
};

}  // namespace hone
