#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "evaluate/figure_text.h"

namespace hone {

// One policy on the same tasks with its tools and with the tools taken away: what the tools are
// good for, and what they cost it.
struct ToolBenefit {
  int64_t pairs = 0;  // trajectories with a verdict in both
  // In how many it is right, with tools and without.
  int64_t both = 0, only_with = 0, only_without = 0, neither = 0;
  struct Row {
    std::string name;   // "overuse"
    std::string about;  // one line
    FigureCell cell;    // interval over tasks
  };
  // "with_tools", "without_tools" (success), "difference" (paired), "tool_use", "gain", "overuse",
  // "overuse_calls", "myopia", "myopia_with_calls"; without those that there is nothing to count
  // of.
  std::vector<Row> rows;
};

// From two evaluations that were written down (Evaluation::ToJson) of the same tasks and samples.
// Nothing where one is null or they do not fit each other.
std::optional<ToolBenefit> ToolBenefitOf(const Json* with, const Json* without);

// {"pairs", "both", "only_with", "only_without", "neither", "figures": {"overuse": {"value", "low",
// "high"}, ...}}
Json ToJson(const ToolBenefit& use);

}  // namespace hone
