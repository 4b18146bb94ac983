#pragma once

#include <cstdint>

#include "engine/kernels/kernels.h"

namespace hone {

// One head of attention over a text whose tokens all see each other. Queries, keys and values are
// rows of head_dim numbers that are `row` apart; so is `out`, `out_row` apart. The keys are seen in
// blocks of kKeyBlock with a running maximum, in float32.
struct FullAttention {
  const float *queries, *keys, *values;
  int64_t row;
  int64_t tokens, head_dim;
  float* out;
  int64_t out_row;
};
void AttendToAll(const FullAttention& head, const Kernels& kernels);

}  // namespace hone
