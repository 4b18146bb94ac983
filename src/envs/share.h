#pragma once

#include <cstdint>

#include "envs/task_source.h"

namespace hone {

// Which of the three sets of tasks what a task is about belongs to. Unseen kinds and phrases are
// about what belongs to test.
enum class Share { kTrain, kDev, kTest };
Share ShareOf(Split split);

// About seven tenths are for training, one for dev, two for test.
Share ShareOfHash(uint64_t hash);

}  // namespace hone
