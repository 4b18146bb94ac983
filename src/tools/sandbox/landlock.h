#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace hone {

// Landlock's version in this kernel; 0 where there is none or it is switched off.
int LandlockVersion();

// From which version on the kernel itself keeps confined programs from ...
inline constexpr int kLandlockTruncates = 3;  // ... truncating files by name
inline constexpr int kLandlockSignals = 6;    // ... signalling processes outside

// What files a program may touch. Everything else is refused, and so are, where the kernel's
// version has rules for them, TCP, abstract sockets and signals to processes outside. Not refused
// by any version: looking at the metadata of a file whose name is known, and changing it (seccomp
// forbids that).
struct LandlockRules {
  std::vector<std::string> readable;  // files and folders to read and execute; absent ones: no rule
  std::vector<std::string> devices;   // files to read and write
  std::vector<std::string> writable;  // folders to do everything in
};

// A ruleset for landlock_restrict_self. kUnsupported where the kernel has no Landlock.
Result<Descriptor> NewLandlockRuleset(const LandlockRules& rules);

}  // namespace hone
