#pragma once

#include <span>
#include <vector>

#include "credit/method.h"

namespace hone {

// Which groups of the batch stay; those that go get a note each. An empty batch is a list of false,
// never a number that is none.
std::vector<bool> KeptGroups(const Method& method, std::span<const Group> groups,
                             std::span<CreditBuilder> builders);

// Whether a limit cut the trajectory off: of all its tokens, or in the middle of one of its turns.
bool WasCutOff(const Group& group, const Trajectory& trajectory);

// Takes the credit from trajectories that the filters mask. After the statistics: what they earned
// still counts in others' baselines.
void MaskTrajectories(const Filters& filters, const Group& group, CreditBuilder* builder);

}  // namespace hone
