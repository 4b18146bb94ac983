#include <cstdlib>
#include <string_view>

#include <xmmintrin.h>

#include "base/check.h"
#include "engine/kernels/panel.h"

namespace hone {
namespace {

constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040, kRoundingMask = 0x6000;

const PanelKernels& Choose() {
  const char* asked = std::getenv("HONE_ISA");
  for (const PanelKernels* kernels : {Avx512Kernels(), Avx2Kernels(), PlainKernels()}) {
    if (kernels == nullptr) continue;
    if (asked == nullptr || std::string_view(asked) == kernels->name) return *kernels;
  }
  return *PlainKernels();  // asked for what this processor does not have: slow, and the same bits
}

}  // namespace

const PanelKernels& BestKernels() {
  static const PanelKernels& kernels = Choose();
  return kernels;
}

FloatMode::FloatMode() : saved_(_mm_getcsr()) {
  _mm_setcsr((saved_ & ~kRoundingMask) | kFlushToZero | kDenormalsAreZero);
}

FloatMode::~FloatMode() { _mm_setcsr(saved_); }

}  // namespace hone
