#pragma once

#include <string>

#include "app/terminal.h"
#include "base/json.h"
#include "tools/executor.h"
#include "tools/toolbox.h"

// What `hone tools` prints.

namespace hone {

// The specs as a list.
Json SpecsJson(const Toolbox& toolbox);
// A line for each tool; arguments that are required have a '*'.
std::string ToolsTable(const Toolbox& toolbox, const Terminal& terminal);
// All there is to know of one.
std::string ToolView(const Toolbox& toolbox, const Toolbox::Tool& tool, const Terminal& terminal);

// How a call ended: its content, and what is to be said of it.
std::string OutcomeView(const CallOutcome& outcome, const Terminal& terminal);
Json OutcomeJson(const std::string& tool, const CallOutcome& outcome);

}  // namespace hone
