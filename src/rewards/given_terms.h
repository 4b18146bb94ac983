#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewards/reward_options.h"

namespace hone {

// The terms that the reward can give where its rules decide, each once, sorted. Absent: nobody
// knows before it has scored something, because a program names its terms itself; unless `terms`
// picks some of them.
std::optional<std::vector<std::string>> GivenTerms(const RewardOptions& reward);

}  // namespace hone
