#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cluster/transport.h"

// MPI, opened at run time: programs that `mpirun` or `srun` started find each other by it. Nothing
// of it is needed to build Hone, nor to run it in one process.

namespace hone {

struct MpiOptions {
  // A process that waits longer than this for a message of another gives up; 0: never.
  double patience_seconds = 3600;
  // Whether somebody wants the run to end: the user, or the launcher when a process died. Process 0
  // says once for whom it waits then. Null: nobody does.
  std::function<bool()> ending;
  std::function<void(const std::string& sentence)> note;
};

// Whether a launcher of MPI has started this process as one of several.
bool StartedByMpi();
// The processes that were started together. An error where MPI's library is not there or cannot
// begin; it says how to get it. Once per process.
Result<std::unique_ptr<Transport>> OpenMpi(const MpiOptions& options);
// The library that would be opened, with its version; or the error of OpenMpi.
Result<std::string> MpiVersion();

}  // namespace hone
