#pragma once

namespace hone::methods {

// SPEAR's schedules at `step` of `horizon`: what tool use is paid (1 down to 0), and what replay
// weighs (0 up to 1).
double SpearBonus(double step, double horizon);
double SpearReplayWeight(double step, double horizon);

}  // namespace hone::methods
