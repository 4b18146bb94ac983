#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tools/command/command_process.h"

namespace hone {

// The processes of one program that are not at work: those that have answered before, and those
// that were started ahead, so that nobody waits while an interpreter loads. Thread-safe.
class CommandPool {
 public:
  explicit CommandPool(CommandProgram program) : program_(std::move(program)) {}

  // Starts the program once to hear what it announces, or reads its tools from a file. The process
  // is kept as one that has answered nothing yet.
  Result<std::vector<ToolSpec>> Learn(const std::string& specs);
  const CommandAnnouncement& announced() const { return announced_; }
  const std::string& name() const { return program_.command[0]; }

  // One that is idle; null when there is none.
  std::unique_ptr<CommandProcess> TakeIdle();
  void PutIdle(std::unique_ptr<CommandProcess> process);

  // A fresh one: started ahead, or now. An error within the limits when it does not come up.
  Result<std::unique_ptr<CommandProcess>> TakeFresh(const CallLimits& limits);

  // Starts processes ahead until there are so many fresh ones. Does not wait, and what cannot be
  // started now is tried again when it is needed.
  void Prepare(size_t count);

 private:
  const CommandProgram program_;
  CommandAnnouncement announced_;
  Mutex mutex_;
  std::vector<std::unique_ptr<CommandProcess>> idle_ HONE_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<CommandProcess>> fresh_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
