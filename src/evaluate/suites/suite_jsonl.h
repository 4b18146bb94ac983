#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evaluate/suites/suite.h"

namespace hone {

// The keys that a case may have.
const std::vector<std::string>& SuiteKeys();

// Cases of a user's own, one JSON object per line (docs/suites.md):
//
//   {"prompt": "What is 12 * 12?", "tools": ["calculator"], "answer": "144", "scorer": "number"}
//   {"prompt": "Weather in Oslo?", "tools": [{"name": "weather", "parameters": {...}}],
//    "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}
//   {"messages": [...], "tools": [...], "calls": []}
//
// "id" is the line's number and "category" the file's name where they are not said. Tools that are
// named are of this program and are really called; tools that are described are only shown, and the
// first turn ends the case. Every problem names the file and the line.
Result<Suite> LoadSuiteLines(const std::filesystem::path& file);

}  // namespace hone
