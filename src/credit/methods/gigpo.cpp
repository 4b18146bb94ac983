// GiGPO: episodes against episodes, and turns against turns that saw the same.

#include "credit/methods/all.h"
#include "credit/methods/parts.h"

namespace hone::methods {

Method GiGpo(MethodOptions* options) {
  Method method;
  method.about = "episode advantage plus that of turns which followed the same observation";
  method.needs = "rewards where they were earned; states that recur";
  method.reads = {options->Names("terms", {"*"}), {}};
  const Selection reads = method.reads;
  const double gamma = options->Number("gamma", 0.95, 0, 1),
               penalty = options->Number("invalid", 0.1, 0);
  const bool scaled = options->Choice("norm", {"mean_std", "mean"}, "mean_std") == "mean_std";
  // What a turn earned, an action that could not be read costing the penalty.
  const Values of_turns = [=](const Group& group) {
    UnitValues values = TurnSums(group, reads);
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t k = 0; k < values[i].size(); ++k) {
        if (values[i][k] && group.trajectories[i].turns[k].faulty) *values[i][k] -= penalty;
      }
    }
    return values;
  };
  Channel episode;
  episode.name = "episode";
  episode.normaliser.scale = scaled ? Scale::kGroupDeviation : Scale::kNone;
  episode.normaliser.alone = AloneOf(options, Alone::kRaw);
  episode.values = [=](const Group& group) {
    UnitValues values(group.trajectories.size());
    const UnitValues turns = of_turns(group);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i].resize(1);
      for (const auto& value : turns[i]) {
        if (value) values[i][0] = values[i][0].value_or(0) + *value;
      }
    }
    return values;
  };
  Channel step;
  step.name = "step";
  step.unit = Unit::kTurn;
  step.key = GroupKey::kState;
  step.mask = TokenMask::kOwn;
  step.weight = options->Number("weight", 1);
  step.normaliser.scale = episode.normaliser.scale;
  step.values = [=](const Group& group) {
    UnitValues values = of_turns(group);
    for (auto& turns : values) {
      double to_go = 0;
      for (size_t k = turns.size(); k-- > 0;) {
        if (!turns[k]) continue;
        to_go = *turns[k] + gamma * to_go;
        turns[k] = to_go;
      }
    }
    return values;
  };
  method.channels = {std::move(episode), std::move(step)};
  // Returns to go of turns at different depths shift by different amounts unless gamma is 1.
  method.promises.shift_invariant = gamma == 1;
  return method;
}

}  // namespace hone::methods
