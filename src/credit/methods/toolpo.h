#pragma once

namespace hone::methods {

// ToolPO's S_pref: (direct - folded) / (direct + folded), lengths in tokens; positive when folding
// made it shorter, 0 when both are 0.
double FoldPreference(double direct, double folded);

}  // namespace hone::methods
