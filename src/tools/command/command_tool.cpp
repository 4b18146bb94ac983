#include "tools/command/command_tool.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/gate.h"
#include "tools/command/command_pool.h"
#include "tools/command/many_sessions.h"
#include "tools/command/program_environment.h"
#include "tools/toolbox.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kKeptErrorBytes = 4096;

// How the calls of trajectories come to processes.
enum class ProcessUse {
  kShared,    // any process answers any call
  kOwn,       // a trajectory has a process of its own, which ends with it
  kBorrowed,  // a trajectory has a process to itself, which is reset for it
};

// What a trajectory holds: its process, from its first call on.
class CommandSession final : public Session {
 public:
  CommandSession(uint64_t seed_number, std::shared_ptr<CommandPool> lender)
      : seed(fmt::format("{}", seed_number)), lender_(std::move(lender)) {}

  ~CommandSession() override {
    if (lender_ != nullptr && process != nullptr) lender_->PutIdle(std::move(process));
  }

  const std::string seed;
  std::unique_ptr<CommandProcess> process;
  Gate::Pass turn;  // of a borrowed process

 private:
  const std::shared_ptr<CommandPool> lender_;  // null: the process is its own
};

class CommandToolkit final : public Toolkit {
 public:
  CommandToolkit(std::shared_ptr<CommandPool> pool, std::vector<ToolSpec> tools, ProcessUse use,
                 int64_t processes)
      : pool_(std::move(pool)),
        tools_(std::move(tools)),
        use_(use),
        processes_(processes),
        gate_(static_cast<int>(processes)) {
    pool_->Prepare(static_cast<size_t>(processes));
  }

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override {
    return use_ == ProcessUse::kShared ? Sharing::kNothing : Sharing::kReplay;
  }
  int64_t sessions_at_once() const override {
    return use_ == ProcessUse::kBorrowed ? processes_ : 0;
  }

  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    if (use_ == ProcessUse::kShared) return std::unique_ptr<Session>();
    return std::unique_ptr<Session>(
        std::make_unique<CommandSession>(seed, use_ == ProcessUse::kBorrowed ? pool_ : nullptr));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    const auto begin = SteadyClock::now();
    auto* own = static_cast<CommandSession*>(session);
    CHECK((own != nullptr) == (use_ != ProcessUse::kShared), "a session of another toolkit");
    // The caller requests stop at the latest when the time is over, so waiting here is bounded too.
    Gate::Pass pass;
    if (own == nullptr || !own->turn) pass = gate_.Enter(limits.stop);
    if (!pass && (own == nullptr || !own->turn)) {
      return TimedOut(pool_->name() + ": every process was busy until the end");
    }
    if (use_ == ProcessUse::kBorrowed && pass) own->turn = std::move(pass);
    Result<std::unique_ptr<CommandProcess>> process = ProcessFor(own, limits);
    if (!process.ok()) return Refusing(FromError(process.error()));
    // State that was there and is not: the caller must build it again.
    if (*process == nullptr) {
      return Lost(Unavailable(pool_->name() + ": ended between two calls"));
    }
    CallLimits rest = limits;
    rest.time -= std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begin);
    ToolReply reply =
        (*process)->Call(tool, arguments, {.session = own != nullptr ? own->seed : ""}, rest);
    const bool usable = (*process)->Usable();
    if (usable && own != nullptr) own->process = *std::move(process);
    if (usable && own == nullptr) pool_->PutIdle(*std::move(process));
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

  // The process of this call; null when the session had one that is gone.
  Result<std::unique_ptr<CommandProcess>> ProcessFor(CommandSession* own,
                                                     const CallLimits& limits) {
    if (own != nullptr && own->process != nullptr) {
      std::unique_ptr<CommandProcess> process = std::move(own->process);
      if (!process->Usable()) process = nullptr;
      return process;
    }
    if (use_ != ProcessUse::kOwn) {
      std::unique_ptr<CommandProcess> idle = pool_->TakeIdle();
      if (idle != nullptr && idle->Usable()) return Prepared(std::move(idle), own, limits);
    }
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<CommandProcess> fresh, pool_->TakeFresh(limits));
    // The next trajectory finds one that has loaded.
    if (use_ == ProcessUse::kOwn) pool_->Prepare(static_cast<size_t>(processes_));
    return Prepared(std::move(fresh), own, limits);
  }

  // A borrowed process forgets what others did before it is lent.
  Result<std::unique_ptr<CommandProcess>> Prepared(std::unique_ptr<CommandProcess> process,
                                                   const CommandSession* own,
                                                   const CallLimits& limits) const {
    if (use_ != ProcessUse::kBorrowed) return process;
    const ToolReply reply = process->Reset(own->seed, limits);
    if (reply.status == CallStatus::kOk) return process;
    return Error(
        reply.status == CallStatus::kTimeout ? ErrorCode::kDeadline : ErrorCode::kUnavailable,
        fmt::format("{}: could not be reset: {}", pool_->name(), reply.content));
  }

  const std::shared_ptr<CommandPool> pool_;
  const std::vector<ToolSpec> tools_;
  const ProcessUse use_;
  const int64_t processes_;
  Gate gate_;
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
  table.Read("reset", &options.reset, "tell it {\"method\": \"reset\"} before each trajectory");
  table.Read("startup_ms", &options.startup_ms, "until it has announced its tools", AtLeast(1));
  table.Read("max_line_bytes", &options.max_line_bytes, "of one reply", Between(1024, 1 << 30));
  if (options.reset && options.per_session) {
    table.Problem("reset",
                  "is for programs that trajectories share; with per_session each has one");
  }
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
  auto pool = std::make_shared<CommandPool>(std::move(program));
  HONE_ASSIGN_OR_RETURN(std::vector<ToolSpec> tools, pool->Learn(options.specs));
  if (pool->announced().many_sessions) {
    return NewManySessionsToolkit(std::move(pool), std::move(tools), options.processes);
  }
  const bool reset = options.reset || pool->announced().resets;
  const ProcessUse use = options.per_session ? ProcessUse::kOwn
                         : reset             ? ProcessUse::kBorrowed
                                             : ProcessUse::kShared;
  // What a trajectory does to a process that is reset for it is its own.
  for (ToolSpec& tool : tools) {
    if (use == ProcessUse::kBorrowed && tool.resource.empty()) tool.resource = kSessionResource;
  }
  return std::shared_ptr<Toolkit>(
      std::make_shared<CommandToolkit>(std::move(pool), std::move(tools), use, options.processes));
}

}  // namespace hone
