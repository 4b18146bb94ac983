#include "tools/command/command_tool.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/gate.h"
#include "base/mutex.h"
#include "tools/command/command_process.h"
#include "tools/command/program_environment.h"
#include "tools/spec_file.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kKeptErrorBytes = 4096;

// A trajectory's own program, started by its first call.
class CommandSession final : public Session {
 public:
  explicit CommandSession(uint64_t seed_number) : seed(fmt::format("{}", seed_number)) {}

  const std::string seed;
  std::unique_ptr<CommandProcess> process;
};

class CommandToolkit final : public Toolkit {
 public:
  CommandToolkit(CommandProgram program, const CommandOptions& options)
      : program_(std::move(program)),
        per_session_(options.per_session),
        gate_(static_cast<int>(options.processes)) {}

  Result<void> LearnTools(const std::string& specs) {
    if (!specs.empty()) {
      HONE_ASSIGN_OR_RETURN(tools_, ReadSpecFile(specs));
      return {};
    }
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<CommandProcess> process, CommandProcess::Start(program_));
    Result<std::vector<ToolSpec>> tools = ToolSpecsFromJson(process->announced());
    if (!tools.ok()) return tools.error().In(program_.command[0]);
    tools_ = *std::move(tools);
    announced_ = process->announced();
    if (!per_session_) PutIdle(std::move(process));
    return {};
  }

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return per_session_ ? Sharing::kReplay : Sharing::kNothing; }

  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    if (!per_session_) return std::unique_ptr<Session>();
    return std::unique_ptr<Session>(std::make_unique<CommandSession>(seed));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    const auto begin = SteadyClock::now();
    // The caller requests stop at the latest when the time is over, so waiting here is bounded too.
    const Gate::Pass pass = gate_.Enter(limits.stop);
    if (!pass) return TimedOut(program_.command[0] + ": every process was busy until the end");
    auto* own = static_cast<CommandSession*>(session);
    CHECK((own != nullptr) == per_session_, "a session of another toolkit");
    std::unique_ptr<CommandProcess> process = own != nullptr ? std::move(own->process) : TakeIdle();
    // State that was there and is not: the caller must build it again.
    bool lost = false;
    if (process != nullptr && !process->Usable()) {
      process = nullptr;
      lost = own != nullptr;
    }
    if (lost) return Lost(Unavailable(program_.command[0] + ": ended between two calls"));
    if (process == nullptr) {
      Result<std::unique_ptr<CommandProcess>> started = StartAnother(limits);
      if (!started.ok()) return Refusing(FromError(started.error()));
      process = *std::move(started);
    }
    CallLimits rest = limits;
    rest.time -= std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begin);
    ToolReply reply = process->Call(tool, arguments, own != nullptr ? own->seed : "", rest);
    const bool usable = process->Usable();
    if (usable && own != nullptr) own->process = std::move(process);
    if (usable && own == nullptr) PutIdle(std::move(process));
    return usable || own == nullptr ? reply : Lost(std::move(reply));
  }

 private:
  static ToolReply Lost(ToolReply reply) {
    reply.session_lost = true;
    return reply;
  }
  // Nothing was sent, so nothing was done.
  static ToolReply Refusing(ToolReply reply) {
    reply.refused = true;
    return reply;
  }

  Result<std::unique_ptr<CommandProcess>> StartAnother(const CallLimits& limits) const {
    CommandProgram program = program_;
    program.startup = std::min(program.startup, limits.time);
    HONE_ASSIGN_OR_RETURN(auto process, CommandProcess::Start(program, limits.stop));
    if (process->announced() != announced_) {
      return Error(ErrorCode::kUnavailable,
                   program_.command[0] + ": started again, it announces other tools than before");
    }
    return process;
  }

  std::unique_ptr<CommandProcess> TakeIdle() {
    MutexLock lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<CommandProcess> process = std::move(idle_.back());
    idle_.pop_back();
    return process;
  }
  void PutIdle(std::unique_ptr<CommandProcess> process) {
    MutexLock lock(mutex_);
    idle_.push_back(std::move(process));
  }

  const CommandProgram program_;
  const bool per_session_;
  std::vector<ToolSpec> tools_;
  Json announced_;
  Gate gate_;
  Mutex mutex_;
  std::vector<std::unique_ptr<CommandProcess>> idle_ HONE_GUARDED_BY(mutex_);
};

}  // namespace

CommandOptions ReadCommandOptions(RecipeTable table) {
  CommandOptions options;
  table.ReadCommand("command", &options.command, "program and arguments");
  table.ReadPath("directory", &options.directory, "where it runs", PathUse::kPlace);
  table.Read("environment", &options.environment, "\"NAME=value\"");
  table.Read("inherit_environment", &options.inherit_environment,
             "false: `environment` is all it gets");
  table.ReadPath("specs", &options.specs, "JSON file of its tools; empty: it announces them",
                 PathUse::kInput);
  table.Read("processes", &options.processes, "that work at the same time", Between(1, 1024));
  table.Read("per_session", &options.per_session, "one program per trajectory");
  table.Read("startup_ms", &options.startup_ms, "until it has announced its tools", AtLeast(1));
  table.Read("max_line_bytes", &options.max_line_bytes, "of one reply", Between(1024, 1 << 30));
  if (options.command.empty()) {
    table.Problem("command", "wants a program and its arguments: [\"python3\", \"tool.py\"]");
  }
  for (const std::string& entry : options.environment) {
    if (entry.find('=') == std::string::npos || entry.front() == '=') {
      table.Problem("environment", fmt::format("\"{}\" is not NAME=value", entry));
    }
  }
  return options;
}

Result<std::shared_ptr<Toolkit>> NewCommandToolkit(const CommandOptions& options) {
  if (options.command.empty() || options.command[0].empty()) {
    return Error(ErrorCode::kInvalidArgument, "command: a program is wanted");
  }
  CommandProgram program;
  program.command = options.command;
  program.process.directory = options.directory;
  program.process.environment =
      ProgramEnvironment(kToolsRole, options.environment, options.inherit_environment);
  program.process.max_output_bytes = static_cast<size_t>(options.max_line_bytes);
  program.process.keep_error_bytes = kKeptErrorBytes;
  program.announces = options.specs.empty();
  program.startup = milliseconds(options.startup_ms);
  auto toolkit = std::make_shared<CommandToolkit>(std::move(program), options);
  HONE_RETURN_IF_ERROR(toolkit->LearnTools(options.specs));
  return std::shared_ptr<Toolkit>(toolkit);
}

}  // namespace hone
