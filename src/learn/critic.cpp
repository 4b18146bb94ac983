#include "learn/critic.h"

#include <algorithm>

#include "credit/gae.h"

namespace hone {

Result<std::vector<Advantages>> ReturnsOf(const ScoredTree& record, const CriticValues& values,
                                          const Method& method) {
  HONE_ASSIGN_OR_RETURN(const Group group, GroupOf(record, &values));
  std::vector<Advantages> returns;
  for (size_t i = 0; i < group.trajectories.size(); ++i) {
    const Trajectory& trajectory = group.trajectories[i];
    Advantages one;
    one.leaf = trajectory.leaf;
    one.values.assign(static_cast<size_t>(trajectory.tokens), 0.0f);
    if (trajectory.score != nullptr && method.critic_targets) {
      one.values = method.critic_targets(group, i);
    } else if (trajectory.score != nullptr) {
      const std::vector<float> of_tokens = ValuesOnTokens(group, trajectory);
      one.values = RewardsOnTokens(trajectory, method.reads);
      TokenGae({}, one.values, of_tokens, one.values);
      for (size_t t = 0; t < one.values.size(); ++t) one.values[t] += of_tokens[t];
    }
    returns.push_back(std::move(one));
  }
  return returns;
}

ValueTerm ValueLossOf(const ValueOptions& options, double value, double old_value, double target) {
  const double error = value - target;
  ValueTerm term{error * error / 2, error, false};
  if (options.clip <= 0) return term;
  const double held = std::clamp(value, old_value - options.clip, old_value + options.clip);
  const double held_error = held - target;
  if (held_error * held_error > error * error) term = {held_error * held_error / 2, 0, true};
  return term;
}

}  // namespace hone
