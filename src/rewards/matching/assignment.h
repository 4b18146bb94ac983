#pragma once

#include <cstdint>
#include <vector>

namespace hone {

// The assignment of rows to columns, each at most once, with the largest sum of weights: for every
// row its column, or -1. Weights are finite and not negative; a pair of weight 0 is not assigned.
// All rows have the same length. Takes time (smaller side)^2 * (larger side).
std::vector<int32_t> BestAssignment(const std::vector<std::vector<double>>& weights);

}  // namespace hone
