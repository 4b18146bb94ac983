#include "tools/builtin/python_tool.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "tools/builtin/python_pool.h"
#include "tools/cut.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr const char* kParameters = R"({
  "type": "object",
  "properties": {"code": {"type": "string", "description": "Python 3 source text"}},
  "required": ["code"],
  "additionalProperties": false
})";

ToolSpec SpecFor(const PythonOptions& options) {
  ToolSpec spec;
  spec.name = options.name;
  spec.description = fmt::format(
      "Runs Python 3 code and returns what it prints and the value of its last expression. {} "
      "There "
      "is no network; files can be written in the working directory only. A call may take {} ms.",
      options.state ? "Variables are kept from call to call."
                    : "Every call starts afresh; nothing is kept from call to call.",
      options.timeout_ms);
  spec.parameters = ParseJson(kParameters).value();
  spec.effect = options.state ? Effect::kWrites : Effect::kReads;
  spec.resource = options.state ? "session" : "clock";
  spec.typical_latency_ms = 5;
  return spec;
}

SandboxOptions SandboxFor(const PythonOptions& options) {
  SandboxOptions sandbox;
  sandbox.isolation = options.isolation;
  sandbox.readable = options.readable;
  sandbox.memory_mb = options.memory_mb;
  sandbox.cpu_seconds = options.timeout_ms / 1000 + 2;
  sandbox.max_processes = options.max_processes;
  sandbox.scratch_mb = options.scratch_mb;
  return sandbox;
}

void AddLine(std::string_view text, std::string* to) {
  if (text.empty()) return;
  if (!to->empty() && !to->ends_with('\n')) *to += '\n';
  *to += text;
}

// The last line that is not blank.
std::string_view LastLine(std::string_view text) {
  text = TrimRight(text);
  return text.substr(text.rfind('\n') + 1);
}

// What the agent reads.
std::string Text(const PythonOutcome& outcome, const PythonOptions& options) {
  const auto error = [&](std::string_view whole) {
    return options.last_line_of_errors ? LastLine(whole) : whole;
  };
  std::string text = outcome.standard_output;
  if (!outcome.standard_error.empty()) {
    AddLine(fmt::format("[stderr]\n{}", error(outcome.standard_error)), &text);
  }
  if (outcome.value) AddLine(*outcome.value, &text);
  if (outcome.raised) AddLine(error(*outcome.raised), &text);
  if (!outcome.ended.empty()) AddLine(fmt::format("[stopped: {}]", outcome.ended), &text);
  return options.max_reply_chars > 0 ? CutToCharacters(std::move(text), options.max_reply_chars)
                                     : text;
}

// A trajectory's interpreter, taken from the pool when it is first needed.
class PythonSession final : public Session {
 public:
  PythonSession(std::shared_ptr<PythonPool> pool, uint64_t seed)
      : pool_(std::move(pool)), seed_(seed) {}
  ~PythonSession() override { Drop(true); }

  uint64_t seed() const { return seed_; }
  PythonWorker* worker() { return worker_.get(); }
  void Hold(std::unique_ptr<PythonWorker> worker) { worker_ = std::move(worker); }
  void Drop(bool usable) {
    if (worker_ != nullptr) pool_->GiveBack(std::move(worker_), usable);
  }

 private:
  std::shared_ptr<PythonPool> pool_;
  uint64_t seed_;
  std::unique_ptr<PythonWorker> worker_;
};

constexpr int kWorkersTried = 3;

class PythonToolkit final : public Toolkit {
 public:
  PythonToolkit(const PythonOptions& options, std::shared_ptr<PythonPool> pool)
      : options_(options), pool_(std::move(pool)), tools_{SpecFor(options)} {}

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return options_.state ? Sharing::kReplay : Sharing::kNothing; }

  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    if (!options_.state) return std::unique_ptr<Session>();
    return std::unique_ptr<Session>(std::make_unique<PythonSession>(pool_, seed));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    CHECK(tool == tools_[0].name);
    // Without state a call is a session of its own.
    PythonSession alone(pool_, 0);
    auto* current = session == nullptr ? &alone : dynamic_cast<PythonSession*>(session);
    CHECK(current != nullptr, "a session of another toolkit");
    ToolReply reply = Run(arguments.Find("code")->AsString(), limits, current);
    if (session == nullptr) reply.session_lost = false;
    return reply;
  }

 private:
  ToolReply Run(const std::string& code, const CallLimits& limits, PythonSession* session) {
    const auto deadline = SteadyClock::now() + limits.time;
    auto time_left = [deadline] {
      const auto left = std::chrono::floor<milliseconds>(deadline - SteadyClock::now());
      return std::max(left, milliseconds(0));
    };
    // The code's time begins when it can run. A worker that somebody else's code has left unfit is
    // not this call's loss: nothing was sent to it, so another one is taken.
    const bool fresh = session->worker() == nullptr;
    for (int tries = fresh ? kWorkersTried : 1; tries > 0; --tries) {
      if (session->worker() == nullptr) {
        Result<std::unique_ptr<PythonWorker>> worker = pool_->Take(time_left(), limits.stop);
        if (!worker.ok()) return NotRun(worker.error());
        session->Hold(std::move(worker).value());
      }
      const auto ready = session->worker()->Ready(time_left(), limits.stop);
      if (ready.ok()) break;
      session->Drop(false);
      if (tries == 1 || IsLate(ready.error())) return NotRun(ready.error());
    }
    const milliseconds own(options_.timeout_ms), left = time_left();
    const Result<PythonOutcome> outcome =
        session->worker()->Execute(code, session->seed(), std::min(left, own), limits.stop);
    if (!outcome.ok()) {
      session->Drop(false);
      ToolReply reply = Failed(outcome.error());
      reply.session_lost = true;
      return reply;
    }
    if (outcome->ended.empty()) {
      return outcome->raised ? Refuted(Text(*outcome, options_))
                             : Answered(Text(*outcome, options_));
    }
    session->Drop(true);
    // Only the tool's own limit is the agent's business.
    ToolReply reply = outcome->out_of_time && left < own
                          ? TimedOut("python: no end within its deadline")
                          : Refuted(Text(*outcome, options_));
    reply.session_lost = true;
    return reply;
  }

  // Not the code's doing.
  static ToolReply Failed(const Error& error) {
    return IsLate(error) ? FromError(error) : Unavailable(error.message(), Blame::kInfrastructure);
  }
  static bool IsLate(const Error& error) {
    return error.code() == ErrorCode::kDeadline || error.code() == ErrorCode::kStopped;
  }
  static ToolReply NotRun(const Error& error) {
    ToolReply reply = Failed(error);
    reply.refused = true;
    return reply;
  }

  const PythonOptions options_;
  std::shared_ptr<PythonPool> pool_;
  const std::vector<ToolSpec> tools_;
};

}  // namespace

PythonOptions ReadPythonOptions(RecipeTable table) {
  PythonOptions options;
  table.Read("name", &options.name, "of the tool, as the dialect's tags call it");
  if (options.name.empty()) table.Problem("name", "wants the name of the tool, such as code");
  table.Read("state", &options.state, "variables live from call to call of a trajectory");
  table.Read("timeout_ms", &options.timeout_ms, "of one call", Between(1, 3600000));
  table.Read("memory_mb", &options.memory_mb, "of a process, and of all together",
             Between(64, 1 << 20));
  table.Read("max_processes", &options.max_processes, "at once; 1: the code may start none",
             Between(1, 10000));
  table.Read("max_output_bytes", &options.max_output_bytes, "of each stream, and of the value",
             Between(1, 1 << 28));
  std::string errors = "whole";
  table.ReadChoice("errors", &errors, {"whole", "last-line"}, "of what went wrong the agent reads");
  options.last_line_of_errors = errors == "last-line";
  table.Read("max_reply_chars", &options.max_reply_chars,
             "of the whole reply, cut in the middle; 0: as long as it is", Between(0, 1 << 28));
  table.Read("scratch_mb", &options.scratch_mb, "in the folder the code works in",
             Between(1, 1 << 20));
  table.Read("workers", &options.workers,
             "that stand ready; without state also how many calls at once", Between(1, 1024));
  table.ReadChoice("isolation", &options.isolation,
                   {"auto", "bubblewrap", "landlock", "none-i-trust-the-code"},
                   "how the code is confined");
  table.Read("python", &options.python, "the interpreter");
  table.ReadPaths("readable", &options.readable, "further paths the code may read",
                  PathUse::kPlace);
  return options;
}

Result<std::shared_ptr<Toolkit>> NewPythonToolkit(const PythonOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Sandbox sandbox, Sandbox::New(SandboxFor(options)));
  if (!sandbox.CanRead(options.python)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("the interpreter {} is not to be found inside the sandbox. Use "
                             "/usr/bin/python3 (apt-get install python3), or name the folder it "
                             "lies in under `readable`",
                             options.python));
  }
  PythonWorkerOptions worker;
  worker.python = options.python;
  worker.max_output_bytes = static_cast<size_t>(options.max_output_bytes);
  worker.keep_state = options.state;
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<PythonPool> pool,
                        PythonPool::New(sandbox, worker, static_cast<int>(options.workers)));
  return std::shared_ptr<Toolkit>(std::make_shared<PythonToolkit>(options, std::move(pool)));
}

}  // namespace hone
