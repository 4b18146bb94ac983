#include "learn/self_imitation.h"

#include "credit/methods/spear.h"

namespace hone {

SelfImitationOptions ReadSelfImitation(RecipeTable table) {
  SelfImitationOptions options;
  table.Read("on", &options.on, "train on own good trajectories once more (SPEAR)");
  table.Read("capacity", &options.capacity, "trajectories replayed at once, at most", AtLeast(1));
  table.Read("tolerated_steps", &options.tolerated_steps, "older ones are dropped", AtLeast(0));
  table.Read("remembered_groups", &options.remembered_groups,
             "whose baselines tell what is still good", AtLeast(1));
  table.Read("divide_by_deviation", &options.divide_by_deviation,
             "by the median of the groups' deviations");
  table.Read("coefficient", &options.coefficient, "what replay weighs at last", AtLeast(0));
  table.Read("horizon", &options.horizon, "steps over which its weight rises", AtLeast(0));
  RecipeTable covariance = table.Table("covariance");
  covariance.Read("share", &options.covariance.share, "of the tokens", Between(0, 1));
  covariance.Read("lower", &options.covariance.lower, "candidates are above it");
  covariance.Read("upper", &options.covariance.upper, "and below this");
  return options;
}

SelfImitation::SelfImitation(const SelfImitationOptions& options)
    : options_(options),
      buffer_({.capacity = static_cast<size_t>(options.capacity),
               .tolerated_steps = options.tolerated_steps,
               .remembered_groups = static_cast<size_t>(options.remembered_groups),
               .divide_by_deviation = options.divide_by_deviation,
               .outcome = options.outcome}) {}

void SelfImitation::Add(const ScoredTree& record, const Credit& credit, int64_t step) {
  if (options_.on) buffer_.Add(record, credit, step);
}

double SelfImitation::WeightAt(int64_t step) const {
  return options_.coefficient * methods::SpearReplayWeight(static_cast<double>(step),
                                                           static_cast<double>(options_.horizon));
}

std::vector<TrainingGroup> SelfImitation::Take(int64_t step, const Rng& rng) {
  std::vector<TrainingGroup> groups;
  if (!options_.on || !buffer_.Ready() || WeightAt(step) <= 0) return groups;
  for (const GoodTrajectories::Replayed& one : buffer_.Take(rng.Split("replay"))) {
    const Tree& tree = one.record->tree;
    Advantages advantages;
    for (const NodeId id : WholePathTo(tree, tree.leaves[0].node)) {
      const Node& node = tree.nodes[static_cast<size_t>(id)];
      if (node.author != Author::kPolicy) continue;
      advantages.values.insert(advantages.values.end(), node.tokens.size(),
                               static_cast<float>(one.advantage));
    }
    TrainingGroup group = MakeTrainingGroup(tree, {&advantages, 1});
    if (!group.sequences.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

ObjectiveOptions SelfImitation::Objective(const ObjectiveOptions& of_run, int64_t step) const {
  ObjectiveOptions options = of_run;
  options.name = "replay";
  options.weight = WeightAt(step);
  options.policy = PolicyLoss::kCovarianceClip;
  options.ratio = RatioLevel::kToken;
  options.covariance = options_.covariance;
  options.kl = {};
  options.entropy = 0;
  options.value = {};
  return options;
}

}  // namespace hone
