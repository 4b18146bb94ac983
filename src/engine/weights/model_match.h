#pragma once

#include "base/result.h"
#include "engine/model.h"

namespace hone {

// Whether the weights of one model can take the place of another's: everything that computes is the
// same. How many positions they have and a scalar head are no part of it. The error says what
// differs.
Result<void> CheckSameDecoder(const ModelConfig& a, const ModelConfig& b);
// The same, and whether `b` has the parameters of that shape, by name and size.
Result<void> CheckSameDecoder(const ModelConfig& a, const Model& b);

}  // namespace hone
