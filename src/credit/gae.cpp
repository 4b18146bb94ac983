#include "credit/gae.h"

#include <algorithm>

#include "base/check.h"

namespace hone {

void TokenGae(const GaeDecay& decay, std::span<const float> rewards, std::span<const float> values,
              std::span<float> advantages) {
  CHECK(rewards.size() == values.size() && rewards.size() == advantages.size());
  const double carry = decay.gamma * decay.lambda;
  double advantage = 0, next_value = 0;
  for (size_t t = rewards.size(); t-- > 0;) {
    const double value = values[t];
    advantage = (rewards[t] + decay.gamma * next_value - value) + carry * advantage;
    next_value = value;
    advantages[t] = static_cast<float>(advantage);
  }
}

std::vector<double> TurnGae(const GaeDecay& decay, std::span<const double> rewards,
                            std::span<const double> first_values) {
  CHECK(rewards.size() == first_values.size());
  std::vector<double> advantages(rewards.size());
  double advantage = 0, next_value = 0;
  for (size_t k = rewards.size(); k-- > 0;) {
    const double delta = rewards[k] + decay.gamma * next_value - first_values[k];
    advantage = delta + decay.gamma * decay.lambda * advantage;
    next_value = first_values[k];
    advantages[k] = advantage;
  }
  return advantages;
}

void TwoLevelGae(const GaeDecay& between, const GaeDecay& within, std::span<const Span> turns,
                 std::span<const double> rewards, std::span<const float> values,
                 std::span<float> advantages) {
  std::vector<double> first_values;
  for (const Span& turn : turns) first_values.push_back(values[turn.begin]);
  const std::vector<double> of_turns = TurnGae(between, rewards, first_values);
  std::vector<float> paid;
  for (size_t k = 0; k < turns.size(); ++k) {
    const auto size = static_cast<size_t>(turns[k].end - turns[k].begin);
    paid.assign(size, 0.0f);
    paid.back() = static_cast<float>(of_turns[k] + first_values[k]);
    TokenGae(within, paid, values.subspan(turns[k].begin, size),
             advantages.subspan(turns[k].begin, size));
  }
}

std::vector<float> RewardsOnTokens(const Trajectory& trajectory, const Selection& selection) {
  std::vector<float> rewards(trajectory.tokens, 0.0f);
  if (trajectory.score == nullptr || trajectory.tokens == 0) return rewards;
  for (const RewardTerm& term : trajectory.score->terms) {
    if (!term.value || !selection.Has(term.name)) continue;
    const TermPlace place = PlaceOf(term, trajectory);
    int32_t at = trajectory.tokens - 1;
    if (place.turn >= 0) {
      const Turn& turn = trajectory.turns[place.turn];
      const bool spanned = turn.node == term.node && term.span && !term.span->empty();
      at = spanned ? turn.tokens.begin + term.span->end - 1 : turn.tokens.end - 1;
    }
    rewards[at] += static_cast<float>(term.weight * *term.value);
  }
  return rewards;
}

std::vector<float> ValuesOnTokens(const Group& group, const Trajectory& trajectory) {
  std::vector<float> values(trajectory.tokens, 0.0f);
  if (group.values == nullptr) return values;
  for (const Turn& turn : trajectory.turns) {
    const std::vector<float>& of_node = (*group.values)[turn.node];
    std::copy(of_node.begin(), of_node.end(), values.begin() + turn.tokens.begin);
  }
  return values;
}

}  // namespace hone
