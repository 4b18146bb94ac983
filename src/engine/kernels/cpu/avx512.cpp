// Compiled for AVX-512 alone; called only where the processor has it.

#include <immintrin.h>

#include "engine/kernels/panel.h"

namespace hone {
namespace {

constexpr int kRows = 8;  // accumulators: enough to hide the latency of a fused multiply-add

template <int R>
void RowsF32(const PanelArguments& p, int64_t first) {
  const auto* b = static_cast<const float*>(p.b);
  const float* a = p.a + first * p.a_row;
  float* out = p.out + first * p.out_row;
  __m512 sum[R];
  for (int r = 0; r < R; ++r) {
    sum[r] = p.accumulate ? _mm512_loadu_ps(out + r * p.out_row) : _mm512_setzero_ps();
  }
  for (int64_t k = 0; k < p.k; ++k) {
    const __m512 column = _mm512_loadu_ps(b + k * p.b_row);
    for (int r = 0; r < R; ++r) {
      sum[r] = _mm512_fmadd_ps(_mm512_set1_ps(a[r * p.a_row + k * p.a_step]), column, sum[r]);
    }
  }
  for (int r = 0; r < R; ++r) _mm512_storeu_ps(out + r * p.out_row, sum[r]);
}

template <int R>
void RowsBf16(const PanelArguments& p, int64_t first) {
  const auto* b = static_cast<const uint32_t*>(p.b);
  const float* a = p.a + first * p.a_row;
  float* out = p.out + first * p.out_row;
  const __m512i high = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
  __m512 sum[R];
  for (int r = 0; r < R; ++r) {
    sum[r] = p.accumulate ? _mm512_loadu_ps(out + r * p.out_row) : _mm512_setzero_ps();
  }
  for (int64_t block = 0; block < p.k; block += kBf16Block) {
    const int64_t end = block + kBf16Block < p.k ? block + kBf16Block : p.k;
    __m512 even[R], odd[R];
    for (int r = 0; r < R; ++r) even[r] = odd[r] = _mm512_setzero_ps();
    for (int64_t k = block; k < end; k += 2) {
      const __m512i pair = _mm512_loadu_si512(b + k / 2 * p.b_row);
      const __m512 low_half = _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
      for (int r = 0; r < R; ++r) {
        even[r] = _mm512_fmadd_ps(_mm512_set1_ps(a[r * p.a_row + k * p.a_step]), low_half, even[r]);
      }
      if (k + 1 == end) break;
      const __m512 high_half = _mm512_castsi512_ps(_mm512_and_si512(pair, high));
      for (int r = 0; r < R; ++r) {
        odd[r] =
            _mm512_fmadd_ps(_mm512_set1_ps(a[r * p.a_row + (k + 1) * p.a_step]), high_half, odd[r]);
      }
    }
    for (int r = 0; r < R; ++r) sum[r] = _mm512_add_ps(sum[r], _mm512_add_ps(even[r], odd[r]));
  }
  for (int r = 0; r < R; ++r) _mm512_storeu_ps(out + r * p.out_row, sum[r]);
}

void F32(const PanelArguments& p) {
  int64_t r = 0;
  for (; r + kRows <= p.rows; r += kRows) RowsF32<kRows>(p, r);
  for (; r < p.rows; ++r) RowsF32<1>(p, r);
}

void Bf16(const PanelArguments& p) {
  int64_t r = 0;
  for (; r + kRows <= p.rows; r += kRows) RowsBf16<kRows>(p, r);
  for (; r < p.rows; ++r) RowsBf16<1>(p, r);
}

constexpr PanelKernels kKernels = {"avx512", &F32, &Bf16};

}  // namespace

const PanelKernels* Avx512Kernels() {
  return __builtin_cpu_supports("avx512f") ? &kKernels : nullptr;
}

}  // namespace hone
