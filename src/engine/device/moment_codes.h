#pragma once

#include <cmath>
#include <cstdint>

#include "engine/device/device_api.h"

// The 8-bit codes of AdamW's moments. A number is coded relative to the largest magnitude of its
// block, by a root of it: the codes lie closer where numbers are small, as most of them are.
//
// A step decodes, updates in float32, changes the weight with what it has then, and codes that.
// Only +, *, / and sqrt, each rounded once: the same codes on the host and on a device, but for
// what the update before them rounds differently. This header is read by nvcc.

namespace hone {

// What numbers of a block are multiplied with before they are coded: one division for all of them.
// 0 where nothing is left of them.
HONE_HOST_DEVICE inline float OverScale(float scale) {
  return scale >= 1e-37f ? 1.0f / scale : 0.0f;
}

// First moments: the sign and 127 steps of the square root, as an int8. |x| <= scale.
HONE_HOST_DEVICE inline uint8_t FirstMomentCode(float x, float scale) {
  const int steps = static_cast<int>(rintf(127.0f * sqrtf(fabsf(x) * OverScale(scale))));
  return static_cast<uint8_t>(static_cast<int8_t>(x < 0 ? -steps : steps));
}

HONE_HOST_DEVICE inline float FirstMomentOf(uint8_t code, float scale) {
  const float root = static_cast<float>(static_cast<int8_t>(code)) / 127.0f;
  return root * fabsf(root) * scale;
}

// Second moments: 255 steps of the fourth root. 0 <= x <= scale. One that is positive stays so:
// the step divides by its root.
HONE_HOST_DEVICE inline uint8_t SecondMomentCode(float x, float scale) {
  const float over = OverScale(scale);
  if (over == 0 || !(x > 0)) return 0;
  const int steps = static_cast<int>(rintf(255.0f * sqrtf(sqrtf(x * over))));
  return static_cast<uint8_t>(steps < 1 ? 1 : steps);
}

HONE_HOST_DEVICE inline float SecondMomentOf(uint8_t code, float scale) {
  const float root = static_cast<float>(code) / 255.0f;
  return (root * root) * (root * root) * scale;
}

}  // namespace hone
