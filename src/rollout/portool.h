#pragma once

#include "rollout/strategy.h"

namespace hone {

// PORTool: all leaves begin at the prompt; after each turn every open trajectory offers `forks`
// continuations, and as many as trajectories are open are kept, by lot. Which are kept is known
// before they are drawn, so that no token is drawn in vain; a trajectory none of whose
// continuations is kept is given up.
struct PortoolOptions {
  int64_t forks = 2;
};
Result<std::unique_ptr<Strategy>> NewPortool(const PortoolOptions& options);
RegisteredStrategy RegisterPortool();

}  // namespace hone
