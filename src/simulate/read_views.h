#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "simulate/players/player.h"
#include "tools/toolbox.h"

namespace hone {

// The answers that a call should agree with. A view is a tool that only reads the same resource and
// shows what the call is about: cancel_order(order) fails for the order that get_order(order) shows
// as delivered.

// The tools that may be views of another, in a fixed order: by the number of their required
// arguments, then by name. Only those before the tool itself in this order (reads come before
// writes), so that no two wait for each other.
std::vector<const Toolbox::Tool*> ViewTools(const Toolbox& toolbox, const ToolSpec& spec);

// What the view is to be asked: its required arguments, taken from the call's own, or else from an
// object inside `known` that the call's arguments name (the product of the item it is about).
// Nothing when they are not all there, or do not fit.
std::optional<Json> ViewArguments(const Toolbox::Tool& view, const Json& arguments,
                                  std::span<const KnownResult> known);

// All views of a call, as `ask` answers them; what it does not answer is left out.
using AskView =
    std::function<std::optional<PlayedResult>(const ToolSpec& view, const Json& arguments)>;
std::vector<KnownResult> AskViews(const Toolbox& toolbox, const ToolSpec& spec,
                                  const Json& arguments, const AskView& ask);

}  // namespace hone
