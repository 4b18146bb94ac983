#pragma once

#include <functional>
#include <string>
#include <vector>

#include "envs/plan.h"
#include "tools/tool_spec.h"

namespace hone {

// The description of a tool; null: not known.
using FindSpec = std::function<const ToolSpec*(const std::string& name)>;

// What can be said against a plan from the descriptions of its tools alone, each with its place:
// arguments that do not fit (where they are references: names, what is missing, and types where
// both sides say them), and references to what a tool does not return. A tool that is not known,
// or that does not say what it returns, is given the benefit of the doubt.
std::vector<std::string> PlanProblems(const Plan& plan, const FindSpec& find);

}  // namespace hone
