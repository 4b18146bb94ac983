// The definition: slow, and what the others are compared with.

#include "engine/kernels/panel.h"

namespace hone {
namespace {

float FloatOfBits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

void PlainF32(const PanelArguments& p) {
  const auto* b = static_cast<const float*>(p.b);
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      float sum = p.accumulate ? p.out[r * p.out_row + lane] : 0;
      for (int64_t k = 0; k < p.k; ++k) {
        sum = __builtin_fmaf(p.a[r * p.a_row + k * p.a_step], b[k * p.b_row + lane], sum);
      }
      p.out[r * p.out_row + lane] = sum;
    }
  }
}

void PlainBf16(const PanelArguments& p) {
  const auto* b = static_cast<const uint32_t*>(p.b);
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* a = p.a + r * p.a_row;
    for (int lane = 0; lane < kLanes; ++lane) {
      float sum = p.accumulate ? p.out[r * p.out_row + lane] : 0;
      for (int64_t block = 0; block < p.k; block += kBf16Block) {
        float even = 0, odd = 0;
        for (int64_t k = block; k < block + kBf16Block && k < p.k; ++k) {
          const uint32_t pair = b[k / 2 * p.b_row + lane];
          if (k % 2 == 0) {
            even = __builtin_fmaf(a[k * p.a_step], FloatOfBits(pair << 16), even);
          } else {
            odd = __builtin_fmaf(a[k * p.a_step], FloatOfBits(pair & 0xFFFF0000), odd);
          }
        }
        sum += even + odd;
      }
      p.out[r * p.out_row + lane] = sum;
    }
  }
}

constexpr PanelKernels kKernels = {"plain", &PlainF32, &PlainBf16};

}  // namespace

const PanelKernels* PlainKernels() { return &kKernels; }

}  // namespace hone
