#pragma once

#include <filesystem>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tools/tool_spec.h"

namespace hone {

// The tools described in a JSON file: a list of function schemas, nested or flat, or an object with
// that list under "tools" or "functions", or one schema per line. Type names of other worlds that
// have become common ("dict", "float", "tuple", "any") are read as JSON Schema's own. Every schema
// is compiled, so what is returned can be called.
Result<std::vector<ToolSpec>> ReadSpecFile(const std::filesystem::path& file);

// The same for a value already read.
Result<std::vector<ToolSpec>> SpecsFromForeignJson(const Json& json);

}  // namespace hone
