#pragma once

#include "base/result.h"

namespace hone {

// Whether HONE_ISA, where it is set, names kernels that this processor has. The error says which it
// has: to compute with others, unasked, would be many times slower.
Result<void> CheckAskedKernels();

}  // namespace hone
