#pragma once

#include <string>

#include "app/terminal.h"
#include "train/verify/verify_run.h"

namespace hone {

// What would be derived, from where, and what is stored of it.
std::string ReplayPlanView(const std::string& run, const Verification& plan,
                           const Terminal& terminal);

// What was derived and the same, what was not verified, and the first differences.
std::string ReplayView(const std::string& run, const Verification& verification,
                       const Terminal& terminal);

}  // namespace hone
