#pragma once

#include <memory>

#include "rewards/program_runner.h"

namespace hone {

// Runs Python programs in the sandbox (tools/sandbox/sandbox.h), each in a folder of its own, 10
// seconds at most. The sandbox is set up at the first run, which fails where code cannot be
// isolated. Thread-safe.
std::unique_ptr<ProgramRunner> NewConfinedRunner();

}  // namespace hone
