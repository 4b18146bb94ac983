#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "record/call.h"

namespace hone::service {

// What somebody calls who wants to know how the shop behaves rather than to serve anybody: looks at
// customers, orders and products, changes an order twice (three times in four as its status allows,
// and most often by an exchange, which hangs on more than that), looks again after every second
// change, and gets one thing in eight wrong: another name of the same form, or something else
// altogether (a colour for an order). Every order and product is looked at before it is changed, so
// that what a change did, and why it was refused, can be told.
std::vector<Call> ExplorationOf(uint64_t session_seed, Rng rng);

}  // namespace hone::service
