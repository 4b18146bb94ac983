#pragma once

#include <string>

#include "envs/play.h"
#include "rollout/policy.h"

namespace hone {

// A policy as somebody who plays one episode turn by turn (envs/play.h): what it says is what it
// says in a rollout (rollout.h) of one chain with the same seed. It leaves when the conversation
// has become longer than the model can read, and when the dialect cannot spell it. Slower than a
// rollout, which draws many at a time. The policy must outlive it.
class PolicyAgent final : public Agent {
 public:
  // `seed` is that of the group.
  PolicyAgent(const Policy* policy, uint64_t seed);
  ~PolicyAgent() override;

  AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) override;
  bool left() const override { return !problem_.empty(); }

  Ending ending() const override { return ending_; }
  std::string problem() const override { return problem_; }

 private:
  Result<AgentTurn> Next(const Opening& opening, const std::vector<PlayedTurn>& turns);
  Result<void> Begin(const std::vector<Node>& nodes);
  Result<void> Hear(const PlayedTurn& turn);

  const Policy* policy_;
  const uint64_t seed_;
  std::unique_ptr<Sampler> sampler_;
  Sampler::Id sequence_ = -1;
  Node last_;          // its last turn
  Conversation said_;  // until now
  int32_t segments_ = 0;
  std::string problem_;
  Ending ending_ = Ending::kInterrupted;  // where it left
};

}  // namespace hone
