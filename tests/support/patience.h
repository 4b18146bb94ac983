#pragma once

namespace hone {

// How much longer things may take than in a release build, for the few tests that say how long
// something takes at most.
#ifdef HONE_SANITIZED
inline constexpr int kPatience = 20;
#else
inline constexpr int kPatience = 1;
#endif

}  // namespace hone
