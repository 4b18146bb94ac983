#pragma once

#include <span>
#include <vector>

#include "credit/ledger.h"
#include "learn/workshop.h"
#include "record/score.h"

// What is logged of the sampling of a step, under the names people and alarms know.

namespace hone {

// Conduct, rewards by term, endings and counts of the records.
Result<void> AddRolloutValues(const std::vector<ScoredTree>& records, const RolloutCounts& counts,
                              StepValues* values);

// Share of the groups whose credit is all zero: nothing is learned from them.
double SilentShare(std::span<const Credit> credits);

}  // namespace hone
