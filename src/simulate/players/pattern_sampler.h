#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/rng.h"

namespace hone {

// A text that a regular expression matches: literals, ".", classes, groups, alternatives, \d \w \s
// and repetitions (open ones a few times). Nothing for what it cannot read, such as look-arounds
// and back references.
std::optional<std::string> SamplePattern(std::string_view pattern, Rng* rng);

}  // namespace hone
