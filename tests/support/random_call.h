#pragma once

#include "base/rng.h"
#include "tools/journal/journal.h"

namespace hone {

// The n-th call of a made-up run, with an outcome: every status, faults put in, retries, odd
// strings. A pure function of the stream and n; no two n have the same identity. `result.call`
// equals `identity.call`.
JournalEntry RandomCall(Rng rng, int64_t n);

}  // namespace hone
