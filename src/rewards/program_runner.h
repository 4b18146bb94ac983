#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// How a program that the policy wrote ended.
struct ProgramOutput {
  std::string output;  // what it printed
  bool ok = false;     // it ended by itself, without an error, within its limits
};

// Runs programs for tests of answers. What the *program* does wrong (an error, no end) is an output
// that is not ok; an Error means that it could not be run at all, which is nobody's answer being
// wrong. Must be a sandbox: the program is foreign. Thread-safe.
class ProgramRunner {
 public:
  virtual ~ProgramRunner() = default;
  virtual Result<ProgramOutput> Run(std::string_view program, std::string_view input) = 0;
};

}  // namespace hone
