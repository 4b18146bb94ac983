// The definition: slow, and what the others are compared with.

#include "engine/kernels/cpu/row_kernels.inc"
#include "engine/kernels/kernels.h"

namespace hone {
namespace {

float FloatOfBits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

void PlainF32(const Product& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* a = p.a + r * p.a_row;
    for (int64_t c = 0; c < p.columns; ++c) {
      const float* b = static_cast<const float*>(p.b) + c / kLanes * p.b_panel + c % kLanes;
      float sum = p.accumulate ? p.out[r * p.out_row + c] : 0;
      for (int64_t k = 0; k < p.k; ++k) sum = __builtin_fmaf(a[k * p.a_step], b[k * p.b_row], sum);
      p.out[r * p.out_row + c] = sum;
    }
  }
}

void PlainBf16(const Product& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const float* a = p.a + r * p.a_row;
    for (int64_t c = 0; c < p.columns; ++c) {
      const uint32_t* b = static_cast<const uint32_t*>(p.b) + c / kLanes * p.b_panel + c % kLanes;
      float sum = p.accumulate ? p.out[r * p.out_row + c] : 0;
      for (int64_t block = 0; block < p.k; block += kBf16Block) {
        float even = 0, odd = 0;
        for (int64_t k = block; k < block + kBf16Block && k < p.k; ++k) {
          const uint32_t pair = b[k / 2 * p.b_row];
          if (k % 2 == 0) {
            even = __builtin_fmaf(a[k], FloatOfBits(pair << 16), even);
          } else {
            odd = __builtin_fmaf(a[k], FloatOfBits(pair & 0xFFFF0000), odd);
          }
        }
        sum += even + odd;
      }
      p.out[r * p.out_row + c] = sum;
    }
  }
}

double Peak(int64_t rounds) {
  constexpr int kChains = 8;
  float sums[kChains] = {};
  for (int64_t i = 0; i < rounds; ++i) {
    for (float& sum : sums) sum = __builtin_fmaf(sum, 0.999f, 0.5f);
  }
  volatile float keep =
      sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
  (void)keep;
  return 2.0 * kChains * static_cast<double>(rounds);
}

constexpr Kernels kKernels = RowKernelsWith("plain", &PlainF32, &PlainBf16, &Peak);

}  // namespace

const Kernels* PlainKernels() { return &kKernels; }

}  // namespace hone
