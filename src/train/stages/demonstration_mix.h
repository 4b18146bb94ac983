#pragma once

#include "train/stage_context.h"

namespace hone {

// Imitation beside trial and error: the remedy for a policy that forgets how it is done.
//
// Shown is what the recipe's first sft stage showed (without one: what plans say), but only what
// earned full reward: form is to come back, not bad habits. The real tools answer. One thread at a
// time.
class DemonstrationMix {
 public:
  // The context must outlive it.
  explicit DemonstrationMix(StageContext* context);

  // Adds to the engine's gradient that of demonstrations with at least `share` * `tokens` tokens of
  // the agent, each of which weighs as much as one of `tokens` in their mean. Returns how many
  // there were: 0 where nobody shows how (tasks without a plan). One call of the engine has at most
  // `call_tokens`, with prompts and results. What is shown is a function of `rng`.
  int64_t Accumulate(double share, int64_t tokens, int64_t call_tokens, const Rng& rng);

 private:
  StageContext* context_;
  Demonstrator demonstrator_;
};

}  // namespace hone
