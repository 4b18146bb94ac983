#pragma once

namespace hone::methods {

// DAPO's penalty on length: 0 up to longest - cache, then falling to -1 at `longest`.
double SoftOverlong(double length, double longest, double cache);

}  // namespace hone::methods
