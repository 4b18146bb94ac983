#pragma once

#include <string>
#include <vector>

#include "app/terminal.h"
#include "evaluate/suites/suite_figures.h"

namespace hone {

// A suite as it is, or in another guise.
struct ShownSuite {
  std::string name;  // "plain", "renamed tools"
  SuiteFigures figures;
  std::vector<SuiteDifference> differences;  // to the plain one; of that: none
  double seconds = 0;                        // that it took, by the clock
};

// The plain one first: shares by category side by side, passes, cost, and what went wrong most.
std::string SuiteView(const std::vector<ShownSuite>& shown, const Terminal& terminal);

}  // namespace hone
