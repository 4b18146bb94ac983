#pragma once

#include <string>
#include <string_view>

#include "base/rng.h"

namespace hone {

// What breaks inside an answer when the world outside is not what it was. Each takes what a tool
// answered and gives what the agent gets instead, always something else; where, is drawn from
// `rng`.

// Cut off somewhere after the beginning.
std::string Truncated(std::string_view content, Rng rng);
// One value of the JSON has another type: a number became a text, a list an object, ... A text that
// is no JSON becomes null.
std::string WithWrongType(std::string_view content, Rng rng);
// One member of the JSON has another name, as after an upgrade of the API. What has no members is
// wrapped into one.
std::string WithRenamedField(std::string_view content, Rng rng);
// Somebody else's instructions to the agent, inside the data.
std::string WithInstruction(std::string_view content, std::string_view instruction);

}  // namespace hone
