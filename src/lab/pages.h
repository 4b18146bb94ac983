#pragma once

#include <string>

#include "lab/rule.h"

// The pages of docs/algorithms, one per method, all with the same headings.

namespace hone::lab {

// In their order.
const std::vector<std::string>& PageHeadings();

// The page with the figure under "Breaks the rule" brought up to date.
std::string WithRuleSentence(const std::string& page, const RuleFigure& figure);

}  // namespace hone::lab
