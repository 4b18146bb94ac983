#pragma once

#include <memory>

#include "rewards/rewarder.h"

namespace hone {

// Pays the task's milestones, each once and by its weight, whatever is repeated: a term "milestone"
// with the share that was reached, on the call that reached it or on the trajectory. A milestone
// that nothing can verify (no call, no state, and the final state has no "milestones") is absent.
//
// final_state.milestones is a list of names, or of {"name", "share"} with a share in [0, 1].
std::unique_ptr<Rewarder> NewMilestones();

}  // namespace hone
