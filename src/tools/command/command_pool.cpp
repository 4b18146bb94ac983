#include "tools/command/command_pool.h"

#include <algorithm>

#include "tools/spec_file.h"

namespace hone {

Result<std::vector<ToolSpec>> CommandPool::Learn(const std::string& specs) {
  if (!specs.empty()) return ReadSpecFile(specs);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CommandProcess> process, CommandProcess::Start(program_));
  Result<std::vector<ToolSpec>> tools = ToolSpecsFromJson(process->announced().tools);
  if (!tools.ok()) return tools.error().In(name());
  announced_ = process->announced();
  const MutexLock lock(mutex_);
  fresh_.push_back(std::move(process));
  return tools;
}

std::unique_ptr<CommandProcess> CommandPool::TakeIdle() {
  const MutexLock lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<CommandProcess> process = std::move(idle_.back());
  idle_.pop_back();
  return process;
}

void CommandPool::PutIdle(std::unique_ptr<CommandProcess> process) {
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(process));
}

Result<std::unique_ptr<CommandProcess>> CommandPool::TakeFresh(const CallLimits& limits) {
  std::unique_ptr<CommandProcess> process;
  {
    const MutexLock lock(mutex_);
    if (!fresh_.empty()) {
      process = std::move(fresh_.front());  // it has had the most time to load
      fresh_.erase(fresh_.begin());
    }
  }
  // One that ended while nobody looked is as if it had not been.
  if (process != nullptr && !process->Usable()) process = nullptr;
  if (process == nullptr) {
    HONE_ASSIGN_OR_RETURN(process, CommandProcess::Launch(program_));
  }
  HONE_RETURN_IF_ERROR(process->Await(std::min(program_.startup, limits.time), limits.stop));
  if (process->announced().tools != announced_.tools) {
    return Error(ErrorCode::kUnavailable,
                 name() + ": started again, it announces other tools than before");
  }
  return process;
}

void CommandPool::Prepare(size_t count) {
  while (true) {
    {
      const MutexLock lock(mutex_);
      if (fresh_.size() >= count) return;
    }
    Result<std::unique_ptr<CommandProcess>> process = CommandProcess::Launch(program_);
    if (!process.ok()) return;
    const MutexLock lock(mutex_);
    fresh_.push_back(*std::move(process));
  }
}

}  // namespace hone
