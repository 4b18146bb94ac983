// Compiled for AVX-512 alone; called only where the processor has it.

#include "engine/kernels/cpu/avx512_tiles.inc"
#include "engine/kernels/cpu/row_kernels.inc"

namespace hone {
namespace {

constexpr Kernels kKernels = RowKernelsWith("avx512", &ProductF32, &ProductBf16);

}  // namespace

const Kernels* Avx512Kernels() { return __builtin_cpu_supports("avx512f") ? &kKernels : nullptr; }

}  // namespace hone
