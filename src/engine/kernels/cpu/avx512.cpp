// Compiled for AVX-512 alone; called only where the processor has it.

#include "engine/kernels/cpu/avx512_tiles.inc"
#include "engine/kernels/cpu/row_kernels.inc"

namespace hone {
namespace {

double Peak(int64_t rounds) {
  constexpr int kChains = 24;
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(0.25f);
  const __m512 factor = _mm512_set1_ps(0.999f), more = _mm512_set1_ps(0.5f);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_fmadd_ps(sums[c], factor, more);
  }
  __m512 total = sums[0];
  for (int c = 1; c < kChains; ++c) total = _mm512_add_ps(total, sums[c]);
  volatile float keep = total[0];
  (void)keep;
  return 2.0 * 16 * kChains * static_cast<double>(rounds);
}

constexpr Kernels kKernels = RowKernelsWith("avx512", &ProductF32, &ProductBf16, &Peak);

}  // namespace

const Kernels* Avx512Kernels() { return __builtin_cpu_supports("avx512f") ? &kKernels : nullptr; }

}  // namespace hone
