#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/subprocess.h"
#include "tools/sandbox/launch.h"
#include "tools/sandbox/scratch.h"

namespace hone {

// Running programs that nobody has read, such as those an agent writes.
//
// Under every method the program has no network, reads no file of the user (Landlock: it can ask
// whether a file is there, how large and how old), can write only to its scratch folder, reaches no
// other process, is bounded in time, memory, processes and output, and is gone, with all it
// started, when we are done with it.

// How long the bounds that only somebody who looks can hold are not looked at. In that time a
// program can write some ten megabytes.
inline constexpr std::chrono::milliseconds kBetweenLooks{10};

enum class SandboxMethod {
  kBubblewrap,  // namespaces of its own, made by bubblewrap; a filter of system calls
  kLandlock,    // where namespaces are forbidden (containers): Landlock and a stricter filter
  kNone,        // limits only; for code that is trusted
};
// "bubblewrap", "landlock", "none-i-trust-the-code": what recipes say.
std::string_view SandboxMethodName(SandboxMethod method);

struct SandboxOptions {
  // "auto" (what holds here; the environment variable HONE_SANDBOX may name one) or a method.
  std::string isolation = "auto";
  std::vector<std::string> readable;  // paths to read and execute from, besides the system's
  int64_t memory_mb = 512;            // address space of a process, and memory of all together
  int64_t cpu_seconds = 60;           // of each process; 0: no limit of this kind
  int64_t max_processes = 1;          // at once, whatever their threads; 1: it may not start any
  int64_t scratch_mb = 64;            // in its folder, in /tmp, and in any one file
  int64_t max_open_files = 128;       // of each process
};

// Which methods work on this machine, found out by running a program under each.
struct SandboxProbe {
  std::string bubblewrap_problem;  // empty: it holds
  std::string landlock_problem;
  int landlock_version = 0;

  // The one that "auto" means: bubblewrap where both hold. Empty: code cannot be isolated here.
  std::optional<SandboxMethod> best() const;
};
SandboxProbe ProbeSandbox();

// A way to run programs confined. Immutable and thread-safe.
class Sandbox {
 public:
  // The error says why code cannot be isolated as asked, and what can be done.
  static Result<Sandbox> New(const SandboxOptions& options);

  SandboxMethod method() const { return method_; }
  const SandboxOptions& options() const { return options_; }
  // Whom programs run as, where we are root.
  const std::optional<LaunchOptions::Identity>& identity() const { return identity_; }

  struct Program {
    std::vector<std::string> command;      // command[0] absolute
    std::vector<std::string> environment;  // besides PATH, HOME, TMPDIR and LANG
    std::vector<int> descriptors;          // its 0, 1, 2, ...
    const Scratch* scratch = nullptr;      // its working directory; null (bubblewrap only): /tmp
    // It is ours and runs others, which it confines further (InnerFilter), one after the other:
    // it may start processes and signal them, and sees no limit of processor time.
    bool supervisor = false;
    bool same_addresses = false;
  };
  // Starts it; see Launch. The process returned is the leader of a group; killing this group ends
  // everything that was started.
  Result<pid_t> Start(const Program& program) const;

  // What a supervisor applies to the programs it runs: the seccomp filter (empty: none), and how
  // many processes and threads its user may have (0: it is set already).
  std::vector<sock_filter> InnerFilter() const;
  uint64_t InnerProcessLimit() const;

  // Whether programs can read (and execute) this file of the machine, links followed.
  bool CanRead(const std::string& path) const;
  // Where a program finds its working directory.
  std::string DirectoryInside(const Scratch* scratch) const;

 private:
  friend SandboxProbe ProbeSandbox();
  Sandbox(SandboxMethod method, SandboxOptions options);
  static Result<Sandbox> Choose(const SandboxOptions& options);
  Result<pid_t> StartInRoom(const Program& program, LaunchOptions launch) const;
  Result<pid_t> StartUnderLandlock(const Program& program, LaunchOptions launch) const;
  Result<void> Probe() const;

  SandboxMethod method_;
  SandboxOptions options_;
  std::optional<LaunchOptions::Identity> identity_;
};

// What to run once, and what it finds in its scratch folder, which is its working directory.
struct ConfinedRun {
  std::vector<std::string> command;  // command[0] absolute
  std::string input;
  std::vector<std::pair<std::string, std::string>> files;  // relative name, content
  std::vector<std::string> environment;
  std::chrono::milliseconds deadline{10000};
  size_t max_output_bytes = 1 << 20;  // per stream
};

// Runs a program confined, to its end: for instance an answer with its unit tests. kDeadline when
// it took too long, kFull when it printed or wrote too much or went beyond another bound that
// SandboxWatch (tools/sandbox/sandbox_watch.h) looks after. A program that the kernel ended has
// the exit code 128 + signal (SIGXCPU: too much processor time).
Result<SubprocessResult> RunConfined(const Sandbox& sandbox, const ConfinedRun& run,
                                     std::stop_token stop = {});

}  // namespace hone
