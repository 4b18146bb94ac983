// Fork-relative credit: a turn against its siblings, which were written from the same context.

#include <cmath>
#include <map>

#include "credit/methods/all.h"
#include "credit/methods/parts.h"

namespace hone::methods {
namespace {

struct Step {
  double reward_sum = 0;  // over the trajectories through it
  int trajectories = 0;
  bool well_formed = true;
  double advantage = 0;
};

// The rewards of all turns that a scored trajectory goes through: the mean of the decayed outcomes
// behind it, and whether it parsed and its calls ran.
std::map<NodeId, Step> StepsOf(const Group& group, const UnitValues& outcomes, double gamma) {
  std::map<NodeId, Step> steps;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i][0]) continue;
    const std::vector<Turn>& turns = group.trajectories[i].turns;
    double decayed = *outcomes[i][0];
    for (size_t k = turns.size(); k-- > 0; decayed *= gamma) {
      Step& step = steps[turns[k].node];
      step.reward_sum += decayed;
      ++step.trajectories;
      if (turns[k].faulty || !turns[k].executed) step.well_formed = false;
    }
  }
  return steps;
}

void CompareSiblings(const Group& group, double format_weight, std::map<NodeId, Step>* steps) {
  std::map<NodeId, std::vector<Step*>> forks;
  for (auto& [node, step] : *steps) forks[group.tree().nodes[node].parent].push_back(&step);
  for (auto& [parent, siblings] : forks) {
    std::vector<double> rewards, lengths(siblings.size(), 1.0);
    for (const Step* step : siblings) {
      rewards.push_back(step->reward_sum / step->trajectories +
                        (step->well_formed ? format_weight : 0));
    }
    Normalise(MeanAndDeviation(Alone::kZero), lengths, 1, Alone::kZero, rewards);
    for (size_t s = 0; s < siblings.size(); ++s) siblings[s]->advantage = rewards[s];
  }
}

Estimator Fork(const Selection& outcome, double gamma, double format_weight, double weight) {
  return {"fork", [=](const Group& group, CreditBuilder* builder) {
            const UnitValues outcomes = TrajectorySums(group, outcome);
            std::map<NodeId, Step> steps = StepsOf(group, outcomes, gamma);
            CompareSiblings(group, format_weight, &steps);
            for (size_t i = 0; i < outcomes.size(); ++i) {
              const Trajectory& trajectory = group.trajectories[i];
              if (!trajectory.counts) continue;
              if (!outcomes[i][0]) {
                builder->Remark(NoteKind::kUnscored, trajectory.leaf, "no outcome");
                continue;
              }
              for (const Turn& turn : trajectory.turns) {
                const double advantage = steps.at(turn.node).advantage;
                if (advantage != 0) builder->Add(i, turn.tokens, weight * advantage);
              }
            }
            if (group.trajectories.size() < 2) {
              builder->Remark(NoteKind::kGroupOfOne, -1, "no turn has a sibling: 0");
            }
          }};
}

}  // namespace

Method PorTool(MethodOptions* options) {
  Method method = OutcomeOnly(options, MeanAndDeviation(Alone::kZero));
  method.about = "trajectories against each other plus turns against their siblings";
  method.needs = "an outcome per trajectory, a branched tree";
  method.channels[0].name = "trajectory";
  method.channels[0].weight = options->Number("trajectory", 1);
  method.estimators = {Fork(method.reads, options->Number("gamma", 0.95, 0, 1),
                            options->Number("format", 1), options->Number("fork", 1))};
  method.shared = SharedTokens::kAverage;
  method.promises = {.shift_invariant = false, .flat = false};
  return method;
}

Method ForkRelative(MethodOptions* options) {
  Method method;
  method.about = "turns against their siblings only";
  method.needs = "an outcome per trajectory, a branched tree";
  method.reads = OutcomeTerms(options);
  method.estimators = {
      Fork(method.reads, options->Number("gamma", 1, 0, 1), options->Number("format", 0), 1)};
  method.shared = SharedTokens::kAverage;
  method.promises = {.shift_invariant = true, .flat = false};
  return method;
}

}  // namespace hone::methods
