#include <cstdlib>
#include <string>
#include <string_view>

#include <xmmintrin.h>

#include "engine/kernels/asked.h"
#include "engine/kernels/kernels.h"

namespace hone {
namespace {

constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040, kRoundingMask = 0x6000;

const Kernels& Choose() {
  const char* asked = std::getenv("HONE_ISA");
  for (const Kernels* kernels : AvailableKernels()) {
    if (asked == nullptr || std::string_view(asked) == kernels->name) return *kernels;
  }
  return *PlainKernels();  // slow, and the same bits
}

}  // namespace

KernelList AvailableKernels() {
  KernelList list = {};
  for (const Kernels* kernels :
       {AmxKernels(), Avx512Bf16Kernels(), Avx512Kernels(), Avx2Kernels(), PlainKernels()}) {
    if (kernels != nullptr) list.all[list.count++] = kernels;
  }
  return list;
}

const Kernels& BestKernels() {
  static const Kernels& kernels = Choose();
  return kernels;
}

Result<void> CheckAskedKernels() {
  const char* asked = std::getenv("HONE_ISA");
  std::string known;
  for (const Kernels* kernels : AvailableKernels()) {
    if (asked == nullptr || std::string_view(asked) == kernels->name) return {};
    known += (known.empty() ? "" : ", ") + std::string(kernels->name);
  }
  return Error(ErrorCode::kInvalidArgument, "HONE_ISA=" + std::string(asked) +
                                                ": this processor has " + known +
                                                "; unset it for the fastest");
}

FloatMode::FloatMode() : saved_(_mm_getcsr()) {
  _mm_setcsr((saved_ & ~kRoundingMask) | kFlushToZero | kDenormalsAreZero);
}

FloatMode::~FloatMode() { _mm_setcsr(saved_); }

}  // namespace hone
