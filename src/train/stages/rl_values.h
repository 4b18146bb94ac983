#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "credit/credit.h"
#include "evaluate/measures.h"
#include "record/score.h"
#include "train/stage_context.h"

// What is logged of the sampling of a step, under the names people and alarms know.

namespace hone {

// What all records that were drawn show (`shown`: the measures of their leaves), rewards by term,
// endings and counts. A figure that nothing was measured for is absent.
void AddRolloutValues(const std::vector<ScoredTree>& records, const std::vector<Measures>& shown,
                      const RolloutCounts& counts, StepValues* values);
// Whether runs of older programs did not write this number: who derives them again passes it over.
bool IsWrittenSince(std::string_view name);

// Share of the groups whose credit is all zero: nothing is learned from them.
// How many steps the weights that drew a token were behind those of the step, on average.
double MeanLag(const std::vector<ScoredTree>& records, int64_t step);

double SilentShare(std::span<const Credit> credits);
// Share of the trajectories that some channel left out because what it compares was not scored.
double LeftOutShare(std::span<const Credit> credits);

}  // namespace hone
