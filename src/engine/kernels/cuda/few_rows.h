#pragma once

// Products of few rows, as a step of drawing has them: bound by how fast weights are read.

#include <vector>

#include "engine/kernels/cuda/context.h"

namespace hone::cuda {

inline constexpr int64_t kFewRows = 128;  // at most; more are bound by something else

// How one is computed. None of it is seen in the bits.
struct FewRowsTiling {
  int columns;      // of a block
  int stage_steps;  // of 64 k, that are copied and waited for together
};

// How products of this shape might be computed here; k is summed in so many parts of equal length,
// one after the other. Empty where they cannot be.
std::vector<FewRowsTiling> FewRowsTilings(DeviceContext* context, const DeviceProductShape& shape,
                                          int parts);
// A product of kForward of at most kFewRows rows. The addend is added before the first part's sum.
// False where the driver has no such copies.
bool RunFewRows(DeviceContext* context, const DeviceProduct& p, const FewRowsTiling& plan,
                int parts);
// The product and, of what it gives, swiglu; p.out is not written.
bool RunFewRowsGated(DeviceContext* context, const DeviceProduct& p, const FewRowsTiling& plan,
                     void* activated);

}  // namespace hone::cuda
