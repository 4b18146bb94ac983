#pragma once

#include "base/json.h"
#include "lab/scale/exchange_costs.h"
#include "lab/scale/play_simulation.h"

namespace hone::lab {

// What a step takes, in seconds: means over the steps that were simulated. Nothing is measured,
// saved or set up between them.
struct ScaleForecast {
  double step = 0;  // from one to the next

  // The rollout, until process 0 has all trees. Of steps that are drawn ahead: as if each were
  // drawn alone.
  double drawing = 0;  // of the process that takes longest
  double mean_drawing = 0;
  double gathering = 0;  // trees are written, sent and read
  double Rollout() const { return drawing + gathering; }

  double leading = 0;  // what process 0 does alone: tasks, credit, writing down

  // Training.
  double sending = 0;    // what is trained on reaches all
  double computing = 0;  // forward and backward, of the process that takes longest
  ReduceTimes reducing;
  double Training() const { return sending + computing + reducing.Total(); }

  double trajectories = 0, drawn_tokens = 0, tree_tokens = 0;  // of a step
  double busy = 0;          // share of the devices' time in which they compute
  double memory_bytes = 0;  // of the fullest device, activations apart
  double parameters = 0;    // of the model

  // What only process 0 does, or can begin; and what gradients need to become a step of all.
  double OfLeader() const { return gathering + leading + sending; }
  double Exchange() const { return reducing.Total(); }

  Json ToJson() const;
};

// The same options and seed give the same forecast.
ScaleForecast SimulateRun(const ScaleOptions& options);

}  // namespace hone::lab
