#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rewards/component_pays.h"
#include "rewards/opinion.h"
#include "rewards/rewarder.h"

namespace hone {

// The seven components of the default reward (docs/rewards.md): "when", "which", "syntax",
// "execution", "arguments", "outcome", "preference".
//
// Each is scored in [0, 1] where it was earned (a call, a fault, the answer) and paid from `lost`
// (taken away at 0) to `paid` (given at 1). Pay is asymmetric: success is paid far more than
// failure costs, so that the policy does not learn never to call.
struct ComponentOptions : ComponentPays {
  std::map<std::string, Panel> panels;  // who decides, by component; the rule where absent
  ProgramRunner* runner = nullptr;      // for answers that are programs; borrowed
};

// What is paid for a gold call (which, execution, arguments) is paid once per gold call; what is
// not (when, syntax, and execution where no gold calls are known) is paid once per trajectory and,
// but for when, only where a tool is known to be needed, so that more calls never earn more. Losses
// are charged to each call. Execution and arguments are paid only where the tool was right, syntax
// only in trajectories without an arguments term.
std::unique_ptr<Rewarder> NewComponents(ComponentOptions options = {});

// The names, in the order above.
std::vector<std::string> ComponentNames();

}  // namespace hone
