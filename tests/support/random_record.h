#pragma once

#include "base/rng.h"
#include "record/score.h"

namespace hone {

// A valid record with everything a record can have (branches, calls, faults, supports, folds, odd
// strings, absent rewards), as a pure function of the stream. For tests and fuzzing seeds.
ScoredTree RandomRecord(Rng rng);

// A short string with characters that like to break things.
std::string RandomText(Rng* rng, size_t longest);

}  // namespace hone
