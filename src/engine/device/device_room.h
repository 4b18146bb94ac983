#pragma once

// Room that a device takes for itself, said once: for those who allocate it and for those who want
// to know beforehand (device_memory.h). Read by nvcc: nothing with templates.

#include <cstdint>

#include "engine/device/device_api.h"

namespace hone {

// What a context takes besides what is asked of it: CUDA's own, the kernels, cuBLASLt with the
// workspace of its algorithms. Of an H200; other GPUs differ by some tens of MiB.
inline constexpr int64_t kDeviceLibraryBytes = int64_t{640} << 20;

// Ways to round that a product of one shape is tried in, at most.
inline constexpr int kMostProductClasses = 4;

// Copies of made-up weights that are used in turns, so that they are not found in the cache.
inline constexpr int64_t ProductTrialCopies(const DeviceProductShape& shape) {
  constexpr int64_t kMoreThanCached = int64_t{160} << 20, kMost = 6;
  const int64_t copies = kMoreThanCached / (shape.n * shape.k * 2);
  return copies < 1 ? 1 : copies > kMost ? kMost : copies;
}

// What prepare_product takes while it tries: made-up rows and weights, the result, and one result
// of each way to round. It is given back.
inline constexpr int64_t ProductTrialBytes(const DeviceProductShape& shape) {
  const int64_t result = shape.most_rows * shape.n * BytesOf(shape.output);
  return (shape.most_rows + ProductTrialCopies(shape) * shape.n) * shape.k * 2 +
         (1 + kMostProductClasses) * result;
}

inline constexpr int64_t AlignedRoom(int64_t bytes) { return (bytes + 255) / 256 * 256; }

// DeviceApi::orthogonal_room: two matrices of the step's shape and two of the shorter side squared
// in bfloat16, one of these in float32, and a number.
inline constexpr int64_t OrthogonalRoomBytes(int64_t rows, int64_t columns) {
  const int64_t side = rows < columns ? rows : columns;
  return 2 * AlignedRoom(rows * columns * 2) + 2 * AlignedRoom(side * side * 2) +
         AlignedRoom(side * side * 4) + 256;
}

}  // namespace hone
