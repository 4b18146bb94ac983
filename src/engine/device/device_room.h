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

// Products of gradients whose output is so large keep a GPU busy without a split of k: ways to
// compute them are tried when one comes for the first time, with so many rows.
inline constexpr bool IsLargeGradient(const DeviceProduct& p) {
  return p.form != DeviceProduct::Form::kForward && p.m * p.n >= int64_t{1} << 21;
}
inline constexpr int64_t GradientTrialRows(const DeviceProduct& p) {
  const int64_t of_call = p.form == DeviceProduct::Form::kWeight ? p.k : p.m;
  int64_t rows = 64;
  while (rows < of_call && rows < 8192) rows *= 2;
  return rows;
}
// What that takes while it is tried: made-up operands, an addend and two results. 0: it would take
// too much, and is not tried.
inline constexpr int64_t GradientTrialBytes(const DeviceProduct& p) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const bool weight = p.form == DeviceProduct::Form::kWeight;
  const int64_t rows = GradientTrialRows(p);
  const int64_t operands = rows * p.a_row + (weight ? rows : p.k) * p.b_row;
  const int64_t result = (weight ? p.m : rows) * p.out_row * BytesOf(p.output);
  const int64_t bytes = operands * 2 + 3 * result;
  return bytes > kMost ? 0 : bytes;
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
