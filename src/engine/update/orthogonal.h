#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "engine/kernels/kernels.h"

namespace hone {

// Replaces a matrix [rows][columns] by one with the same singular vectors and all singular values
// close to 1 (within about 0.3): five steps of a Newton-Schulz iteration of fifth order, in
// float32. Singular values under about 1e-3 of the largest stay smaller. A matrix of zeros stays
// so. The same bits on any number of threads and every instruction set.
void Orthogonalize(int64_t rows, int64_t columns, float* matrix, const Kernels& kernels,
                   ThreadPool* pool);

}  // namespace hone
