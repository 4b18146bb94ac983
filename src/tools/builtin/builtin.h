#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tools/tool_spec.h"

// What the toolkits that come with Hone share.

namespace hone {

// The specs of a toolkit, written in its source as a JSON list. A mistake in them is a bug (CHECK).
std::vector<ToolSpec> BuiltinSpecs(std::string_view json);

// Arguments that have passed the tool's schema, or whatever else: what is absent or of another kind
// is empty, or the fallback. Nothing an agent sends can end the program.
std::string TextArgument(const Json& arguments, std::string_view key);
int64_t IntegerArgument(const Json& arguments, std::string_view key, int64_t fallback);

}  // namespace hone
