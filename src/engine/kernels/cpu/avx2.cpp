// Compiled for AVX2 with FMA alone; called only where the processor has both.

#include <immintrin.h>

#include "engine/kernels/cpu/row_kernels.inc"
#include "engine/kernels/cpu/tiles.inc"

namespace hone {
namespace {

constexpr int kHalves = 2;  // a panel of 16 lanes is two registers of 8

template <int R, int P>
struct TileF32 {
  static_assert(P == 1);
  static void Run(const Product& p, int64_t row, int64_t panel, float* out, int64_t out_row) {
    const float* b = static_cast<const float*>(p.b) + panel * p.b_panel;
    const float* a = p.a + row * p.a_row;
    __m256 sum[R][kHalves];
    for (int r = 0; r < R; ++r) {
      for (int h = 0; h < kHalves; ++h) {
        sum[r][h] = p.accumulate ? _mm256_loadu_ps(out + r * out_row + 8 * h) : _mm256_setzero_ps();
      }
    }
    for (int64_t k = 0; k < p.k; ++k) {
      const __m256 left = _mm256_loadu_ps(b + k * p.b_row);
      const __m256 right = _mm256_loadu_ps(b + k * p.b_row + 8);
      for (int r = 0; r < R; ++r) {
        const __m256 value = _mm256_set1_ps(a[r * p.a_row + k * p.a_step]);
        sum[r][0] = _mm256_fmadd_ps(value, left, sum[r][0]);
        sum[r][1] = _mm256_fmadd_ps(value, right, sum[r][1]);
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int h = 0; h < kHalves; ++h) _mm256_storeu_ps(out + r * out_row + 8 * h, sum[r][h]);
    }
  }
};

// The running sums lie in `out`: registers are for the even and odd chains of a block, of one half
// panel at a time.
template <int R, int P>
struct TileBf16 {
  static_assert(P == 1);
  static void Run(const Product& p, int64_t row, int64_t panel, float* out, int64_t out_row) {
    const uint32_t* b = static_cast<const uint32_t*>(p.b) + panel * p.b_panel;
    for (int h = 0; h < kHalves; ++h) {
      RunHalf(p, p.a + row * p.a_row, b + 8 * h, out + 8 * h, out_row);
    }
  }

  static void RunHalf(const Product& p, const float* a, const uint32_t* b, float* out,
                      int64_t out_row) {
    const __m256i high = _mm256_set1_epi32(static_cast<int>(0xFFFF0000));
    for (int r = 0; p.k == 0 && !p.accumulate && r < R; ++r) {
      _mm256_storeu_ps(out + r * out_row, _mm256_setzero_ps());
    }
    for (int64_t block = 0; block < p.k; block += kBf16Block) {
      const int64_t end = block + kBf16Block < p.k ? block + kBf16Block : p.k;
      __m256 even[R], odd[R];
      for (int r = 0; r < R; ++r) even[r] = odd[r] = _mm256_setzero_ps();
      for (int64_t k = block; k < end; k += 2) {
        const __m256i pair =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + k / 2 * p.b_row));
        const __m256 low_half = _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16));
        for (int r = 0; r < R; ++r) {
          even[r] = _mm256_fmadd_ps(_mm256_set1_ps(a[r * p.a_row + k]), low_half, even[r]);
        }
        if (k + 1 == end) break;
        const __m256 high_half = _mm256_castsi256_ps(_mm256_and_si256(pair, high));
        for (int r = 0; r < R; ++r) {
          odd[r] = _mm256_fmadd_ps(_mm256_set1_ps(a[r * p.a_row + k + 1]), high_half, odd[r]);
        }
      }
      const bool fresh = block == 0 && !p.accumulate;
      for (int r = 0; r < R; ++r) {
        float* to = out + r * out_row;
        const __m256 sum = fresh ? _mm256_setzero_ps() : _mm256_loadu_ps(to);
        _mm256_storeu_ps(to, _mm256_add_ps(sum, _mm256_add_ps(even[r], odd[r])));
      }
    }
  }
};

// 12 accumulators of the 16 registers.
void ProductF32(const Product& p) { RunProduct<6, 1, 0, 1, TileF32>(p); }
void ProductBf16(const Product& p) { RunProduct<6, 1, 0, 1, TileBf16>(p); }

double Peak(int64_t rounds) {
  constexpr int kChains = 12;
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(0.25f);
  const __m256 factor = _mm256_set1_ps(0.999f), more = _mm256_set1_ps(0.5f);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm256_fmadd_ps(sums[c], factor, more);
  }
  __m256 total = sums[0];
  for (int c = 1; c < kChains; ++c) total = _mm256_add_ps(total, sums[c]);
  volatile float keep = total[0];
  (void)keep;
  return 2.0 * 8 * kChains * static_cast<double>(rounds);
}

constexpr Kernels kKernels = RowKernelsWith("avx2", &ProductF32, &ProductBf16, &Peak);

}  // namespace

const Kernels* Avx2Kernels() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kKernels : nullptr;
}

}  // namespace hone
