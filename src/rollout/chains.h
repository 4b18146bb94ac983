#pragma once

#include "rollout/strategy.h"

namespace hone {

// A star: as many independent trajectories as leaves are wanted.
std::unique_ptr<Strategy> NewChains();
RegisteredStrategy RegisterChains();

}  // namespace hone
