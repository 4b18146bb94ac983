#pragma once

namespace hone {

// How economical a trajectory was, as papers measure it. Rewards pay by it and credit methods
// weigh outcomes with it, each in its own way.

// OTC's factors on a right answer, in [0, 1]: by `calls` made, `smoothing` being about the most
// calls allowed; and by how near they are to the `fewest` known to be enough.
double OtcPpoFactor(double calls, double smoothing);
double OtcGrpoFactor(double calls, double fewest, double smoothing);

// ToolPO's S_pref: (direct - folded) / (direct + folded), lengths in tokens; positive when folding
// made the trajectory shorter, 0 when both are 0.
double FoldPreference(double direct, double folded);

}  // namespace hone
