#pragma once

#include <span>
#include <vector>

#include "credit/group.h"
#include "credit/reward_values.h"

// Generalised advantage estimation over the policy tokens of a trajectory: what the policy did not
// write does not exist, and neither discounts nor carries a reward.

namespace hone {

struct GaeDecay {
  double gamma = 1;   // discount per token, or per turn
  double lambda = 1;  // 1: the whole return; 0: one step and the critic
};

// Token level: rewards and values of the policy tokens in, advantages out (same size, may alias
// rewards).
void TokenGae(const GaeDecay& decay, std::span<const float> rewards, std::span<const float> values,
              std::span<float> advantages);

// One advantage per turn. first_values: the critic's value of each turn's first token.
std::vector<double> TurnGae(const GaeDecay& decay, std::span<const double> rewards,
                            std::span<const double> first_values);

// Turns first, then the tokens inside each: turn k's last token is paid A_k + V_k, and token GAE
// runs inside the turn alone. `turns` are flat spans.
void TwoLevelGae(const GaeDecay& between, const GaeDecay& within, std::span<const Span> turns,
                 std::span<const double> rewards, std::span<const float> values,
                 std::span<float> advantages);

// The trajectory's selected terms on the flat tokens where they were earned: a span's or turn's
// last token; the trajectory's last one for what it earned as a whole.
std::vector<float> RewardsOnTokens(const Trajectory& trajectory, const Selection& selection);

// The critic's values of the trajectory's tokens; zeros without a critic.
std::vector<float> ValuesOnTokens(const Group& group, const Trajectory& trajectory);

}  // namespace hone
