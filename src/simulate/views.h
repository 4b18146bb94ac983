#pragma once

#include <vector>

#include "tools/toolbox.h"

namespace hone {

// A call that shows what another call is about.
struct View {
  const ToolSpec* spec = nullptr;
  Json arguments;
};

// The calls whose answers a call should agree with: of the tools that only read the same resource,
// those whose required arguments are all among the call's own. So that cancel_order(order_id) fails
// for the order that get_order(order_id) shows as delivered. Tools come in a fixed order, by the
// number of their required arguments and then by name, and a call looks only at those before its
// own, so that no two wait for each other; with `itself`, at its own as it was before any write
// too.
std::vector<View> ViewsOf(const Toolbox& toolbox, const ToolSpec& spec, const Json& arguments,
                          bool itself);

}  // namespace hone
