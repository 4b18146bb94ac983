// Compiled for AVX2 with FMA alone; called only where the processor has both.

#include <immintrin.h>

#include "engine/kernels/panel.h"

namespace hone {
namespace {

constexpr int kRows = 4;
constexpr int kHalves = 2;  // a panel of 16 lanes is two registers of 8

template <int R>
void RowsF32(const PanelArguments& p, int64_t first) {
  const auto* b = static_cast<const float*>(p.b);
  const float* a = p.a + first * p.a_row;
  float* out = p.out + first * p.out_row;
  __m256 sum[R][kHalves];
  for (int r = 0; r < R; ++r) {
    for (int h = 0; h < kHalves; ++h) {
      sum[r][h] = p.accumulate ? _mm256_loadu_ps(out + r * p.out_row + 8 * h) : _mm256_setzero_ps();
    }
  }
  for (int64_t k = 0; k < p.k; ++k) {
    const __m256 left = _mm256_loadu_ps(b + k * p.b_row),
                 right = _mm256_loadu_ps(b + k * p.b_row + 8);
    for (int r = 0; r < R; ++r) {
      const __m256 value = _mm256_set1_ps(a[r * p.a_row + k * p.a_step]);
      sum[r][0] = _mm256_fmadd_ps(value, left, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(value, right, sum[r][1]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int h = 0; h < kHalves; ++h) _mm256_storeu_ps(out + r * p.out_row + 8 * h, sum[r][h]);
  }
}

template <int R>
void RowsBf16(const PanelArguments& p, int64_t first) {
  const auto* b = static_cast<const uint32_t*>(p.b);
  const float* a = p.a + first * p.a_row;
  float* out = p.out + first * p.out_row;
  const __m256i high = _mm256_set1_epi32(static_cast<int>(0xFFFF0000));
  for (int h = 0; h < kHalves; ++h) {
    __m256 sum[R];
    for (int r = 0; r < R; ++r) {
      sum[r] = p.accumulate ? _mm256_loadu_ps(out + r * p.out_row + 8 * h) : _mm256_setzero_ps();
    }
    for (int64_t block = 0; block < p.k; block += kBf16Block) {
      const int64_t end = block + kBf16Block < p.k ? block + kBf16Block : p.k;
      __m256 even[R], odd[R];
      for (int r = 0; r < R; ++r) even[r] = odd[r] = _mm256_setzero_ps();
      for (int64_t k = block; k < end; k += 2) {
        const __m256i pair =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + k / 2 * p.b_row + 8 * h));
        const __m256 low_half = _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16));
        for (int r = 0; r < R; ++r) {
          even[r] =
              _mm256_fmadd_ps(_mm256_set1_ps(a[r * p.a_row + k * p.a_step]), low_half, even[r]);
        }
        if (k + 1 == end) break;
        const __m256 high_half = _mm256_castsi256_ps(_mm256_and_si256(pair, high));
        for (int r = 0; r < R; ++r) {
          odd[r] = _mm256_fmadd_ps(_mm256_set1_ps(a[r * p.a_row + (k + 1) * p.a_step]), high_half,
                                   odd[r]);
        }
      }
      for (int r = 0; r < R; ++r) sum[r] = _mm256_add_ps(sum[r], _mm256_add_ps(even[r], odd[r]));
    }
    for (int r = 0; r < R; ++r) _mm256_storeu_ps(out + r * p.out_row + 8 * h, sum[r]);
  }
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

constexpr PanelKernels kKernels = {"avx2", &F32, &Bf16};

}  // namespace

const PanelKernels* Avx2Kernels() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kKernels : nullptr;
}

}  // namespace hone
