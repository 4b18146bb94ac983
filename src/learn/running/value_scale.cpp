#include "learn/running/value_scale.h"

namespace hone {

void ValueScale::ToRewards(ModelViews* views) const {
  if (!on_) return;
  const double mean = moments_.mean(), deviation = moments_.Deviation();
  for (CriticValues& tree : views->values) {
    for (std::vector<float>& node : tree) {
      for (float& value : node) value = static_cast<float>(mean + deviation * value);
    }
  }
}

void ValueScale::Learn(std::vector<TrainingGroup>* groups) {
  if (!on_) return;
  std::vector<double> returns;
  for (const TrainingGroup& group : *groups) {
    for (const Sequence& sequence : group.sequences) {
      returns.insert(returns.end(), sequence.returns.begin(), sequence.returns.end());
    }
  }
  moments_.Add(returns);
  const double mean = moments_.mean(), deviation = moments_.Deviation();
  for (TrainingGroup& group : *groups) {
    for (Sequence& sequence : group.sequences) {
      for (float& value : sequence.returns) value = static_cast<float>((value - mean) / deviation);
    }
  }
}

}  // namespace hone
