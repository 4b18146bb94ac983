#pragma once

#include <string>

#include "envs/environments.h"

namespace hone {

// What an environment is beyond what its recipe says: its tools, its first tasks, and how its
// teacher, if it has one, plays them (`executor` answers; null: the teacher is left out). Different
// where a new version of the program makes other tasks or shows other things from the same recipe,
// so that nothing is taken from a cache that would not be made again.
Result<std::string> EnvironmentDigest(const LoadedEnvironment& environment, Executor* executor);

}  // namespace hone
