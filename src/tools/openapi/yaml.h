#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// One YAML document as the JSON value it stands for (the core schema of YAML 1.2: plain true, null
// and JSON numbers are such, everything else plain or quoted is text; keys become text). Refused:
// duplicate keys, more than 100 levels, more than a million values once aliases are written out.
// The error names the line.
Result<Json> ParseYaml(std::string_view text);

}  // namespace hone
