#pragma once

#include <string>
#include <vector>

#include "app/terminal.h"
#include "base/json.h"

namespace hone {

// One thing `hone doctor` looked at.
struct Finding {
  enum class State { kGood, kMissing, kOptional };
  std::string area;  // "cpu", "memory", "gpu", "sandbox", "optional"
  std::string name;  // "AVX-512"
  State state = State::kGood;
  std::string value;   // "yes", "23.4 GiB"
  std::string advice;  // what to do when it is missing; may be empty
};

// Looks at this machine. Starts a few harmless processes and opens nothing to the network.
std::vector<Finding> ExamineMachine();

std::string FindingsView(const std::vector<Finding>& findings, const Terminal& terminal);
Json FindingsJson(const std::vector<Finding>& findings);

// The processor's name, as the kernel has it.
std::string ProcessorName();

}  // namespace hone
