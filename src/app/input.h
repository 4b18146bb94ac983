#pragma once

#include <string>

#include "base/result.h"

namespace hone {

// All of what a person names to be read: a file, a pipe (`<(...)`, /dev/stdin), or "-" for standard
// input.
Result<std::string> ReadInput(const std::string& name);

}  // namespace hone
