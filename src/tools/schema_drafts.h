#pragma once

#include "base/json.h"

namespace hone {

// A schema of draft 4 as draft 7 has it: "id" is "$id", and "exclusiveMinimum": true beside
// "minimum" is the limit itself, as with the maximum. What holds values ("enum", "default", ...) is
// left as it is.
Json FromDraft4(const Json& schema);

}  // namespace hone
