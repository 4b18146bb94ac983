#pragma once

namespace hone::methods {

// OTC's factors on a right answer. `calls` of the trajectory, `fewest` of the right trajectories
// of the task, `smooth` about the largest number of calls.
double OtcPpoFactor(double calls, double smooth);
double OtcGrpoFactor(double calls, double fewest, double smooth);

}  // namespace hone::methods
