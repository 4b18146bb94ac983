#include "tools/sandbox/sandbox.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "tools/sandbox/bubblewrap.h"
#include "tools/sandbox/landlock.h"
#include "tools/sandbox/ordinary_user.h"
#include "tools/sandbox/sandbox_watch.h"
#include "tools/sandbox/seccomp_filter.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// The kernel counts threads and processes together, so its limit leaves room for threads; how many
// of them are processes is what SandboxWatch looks at.
constexpr uint64_t kThreads = 64;
// Landlock has no count of its own: the kernel counts all that the user has, and somebody else may
// start some meanwhile. What matters is that there is an end.
constexpr uint64_t kThreadsOfTheUser = 512;

const std::vector<std::string> kSystemPaths = {"/usr",
                                               "/lib",
                                               "/lib32",
                                               "/lib64",
                                               "/libx32",
                                               "/bin",
                                               "/sbin",
                                               "/etc/ld.so.cache",
                                               "/etc/localtime",
                                               "/etc/timezone",
                                               "/etc/alternatives",
                                               "/etc/mime.types"};
const std::vector<std::string> kDevices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                           "/dev/urandom"};

std::vector<std::string> ReadablePaths(const SandboxOptions& options) {
  std::vector<std::string> paths = kSystemPaths;
  paths.insert(paths.end(), options.readable.begin(), options.readable.end());
  return paths;
}

// The bytes of a filter behind a descriptor, for bubblewrap to read.
Result<Descriptor> FilterFile(const std::vector<sock_filter>& filter) {
  Descriptor file(::memfd_create("seccomp", MFD_CLOEXEC));
  const size_t size = filter.size() * sizeof(sock_filter);
  if (!file.ok() || ::pwrite(file.get(), filter.data(), size, 0) != static_cast<ssize_t>(size)) {
    return ErrnoError("cannot hand the filter of system calls over");
  }
  return file;
}

// What SandboxWatch counts on where a scratch folder lies on a disk.
void BoundFiles(bool supervisor, SyscallRules* rules) {
  rules->allocate_ahead = false;
  rules->pass_descriptors = false;
  rules->hide_files = supervisor;  // which hides from its programs; they have a filter of their own
}

}  // namespace

std::string_view SandboxMethodName(SandboxMethod method) {
  switch (method) {
    case SandboxMethod::kBubblewrap: return "bubblewrap";
    case SandboxMethod::kLandlock: return "landlock";
    case SandboxMethod::kNone: return "none-i-trust-the-code";
  }
  return "unknown";
}

std::optional<SandboxMethod> SandboxProbe::best() const {
  if (bubblewrap_problem.empty()) return SandboxMethod::kBubblewrap;
  if (landlock_problem.empty()) return SandboxMethod::kLandlock;
  return std::nullopt;
}

// A method holds when a program runs under it and cannot read what everybody on this machine can.
Result<void> Sandbox::Probe() const {
  if (method_ == SandboxMethod::kBubblewrap && ::access("/usr/bin/bwrap", X_OK) != 0) {
    return Error(ErrorCode::kNotFound, "not installed (apt-get install bubblewrap)");
  }
  if (method_ == SandboxMethod::kLandlock && LandlockVersion() == 0) {
    return Error(ErrorCode::kUnsupported, "this kernel has none, or it is switched off");
  }
  ConfinedRun run;
  run.command = {"/bin/sh", "-c", "echo ran; read line < /etc/passwd && echo read"};
  HONE_ASSIGN_OR_RETURN(const SubprocessResult result, RunConfined(*this, run));
  if (result.standard_output == "ran\n") return {};
  if (result.standard_output.empty()) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("a program does not start under it: {}", Trim(result.standard_error)));
  }
  return Error(ErrorCode::kUnsupported, "it starts programs, but does not confine them");
}

SandboxProbe ProbeSandbox() {
  SandboxProbe probe;
  probe.landlock_version = LandlockVersion();
  auto problem = [](SandboxMethod method) {
    const Result<void> held = Sandbox(method, {}).Probe();
    return held.ok() ? std::string() : held.error().message();
  };
  probe.bubblewrap_problem = problem(SandboxMethod::kBubblewrap);
  probe.landlock_problem = problem(SandboxMethod::kLandlock);
  return probe;
}

Sandbox::Sandbox(SandboxMethod method, SandboxOptions options)
    : method_(method), options_(std::move(options)) {
  if (method_ != SandboxMethod::kNone) identity_ = OrdinaryUser();
}

Result<Sandbox> Sandbox::New(const SandboxOptions& options) {
  HONE_ASSIGN_OR_RETURN(Sandbox sandbox, Choose(options));
  if (sandbox.method_ != SandboxMethod::kNone && options.max_processes > 1 && ::geteuid() == 0 &&
      !sandbox.identity_) {
    return Error(ErrorCode::kUnsupported,
                 "we are root and cannot become anybody else, and the kernel does not count the "
                 "processes of root: run as an ordinary user, or set max_processes = 1");
  }
  return sandbox;
}

Result<Sandbox> Sandbox::Choose(const SandboxOptions& options) {
  std::string wanted = options.isolation;
  if (const char* forced = std::getenv("HONE_SANDBOX"); forced != nullptr && wanted == "auto") {
    wanted = forced;
  }
  if (wanted == SandboxMethodName(SandboxMethod::kNone)) {
    return Sandbox(SandboxMethod::kNone, options);
  }
  for (const SandboxMethod method : {SandboxMethod::kBubblewrap, SandboxMethod::kLandlock}) {
    if (wanted != SandboxMethodName(method)) continue;
    Sandbox sandbox(method, options);
    const Result<void> held = sandbox.Probe();
    if (held.ok()) return sandbox;
    return Error(held.error().code(),
                 fmt::format("isolation \"{}\" does not work here: {}. `hone doctor` says what "
                             "does; \"auto\" takes it",
                             wanted, held.error().message()));
  }
  if (wanted != "auto") {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("isolation \"{}\" is unknown; it is \"auto\", \"bubblewrap\", "
                             "\"landlock\", or \"none-i-trust-the-code\"",
                             wanted));
  }
  const SandboxProbe probe = ProbeSandbox();
  if (const auto best = probe.best()) return Sandbox(*best, options);
  return Error(
      ErrorCode::kUnsupported,
      fmt::format("code cannot be isolated on this machine, so it is not run. bubblewrap: {}. "
                  "Landlock: {}. Install bubblewrap and allow user namespaces, or use a kernel "
                  "with Landlock (5.13 or later); or, if you trust the code with everything you "
                  "have, set isolation = \"none-i-trust-the-code\"",
                  probe.bubblewrap_problem, probe.landlock_problem));
}

std::string Sandbox::DirectoryInside(const Scratch* scratch) const {
  if (method_ != SandboxMethod::kBubblewrap) return scratch->path().string();
  return scratch == nullptr ? "/tmp" : kScratchInside;
}

bool Sandbox::CanRead(const std::string& path) const {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed || !fs::path(path).is_absolute()) return false;
  if (method_ == SandboxMethod::kNone) return true;
  // Where it is said to be, and where it is.
  auto beneath = [&](const fs::path& file) {
    const std::vector<std::string> readable = ReadablePaths(options_);
    return std::any_of(readable.begin(), readable.end(), [&](const fs::path& folder) {
      return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
             folder.end();
    });
  };
  return beneath(path) && beneath(real);
}

// The programs of a supervisor have it and nobody else beside them. Where they may start processes
// they may also end them; a room's first process cannot be signalled from inside, and under
// Landlock a supervisor of programs that start processes serves only once.
std::vector<sock_filter> Sandbox::InnerFilter() const {
  if (method_ == SandboxMethod::kNone) return {};
  const bool landlock = method_ == SandboxMethod::kLandlock;
  SyscallRules rules;
  rules.processes = options_.max_processes > 1;
  rules.signal_others = rules.processes && (!landlock || LandlockVersion() >= kLandlockSignals);
  rules.adjust_others = false;
  rules.leave_group = !landlock;
  rules.file_metadata = !landlock;
  rules.truncate_paths = !landlock || LandlockVersion() >= kLandlockTruncates;
  rules.hide_files = !landlock;
  return SeccompFilter(rules);
}

uint64_t Sandbox::InnerProcessLimit() const {
  // Besides the program and its threads: its supervisor.
  return method_ == SandboxMethod::kBubblewrap
             ? static_cast<uint64_t>(options_.max_processes) + kThreads + 1
             : 0;
}

Result<pid_t> Sandbox::Start(const Program& program) const {
  CHECK(program.scratch != nullptr || method_ == SandboxMethod::kBubblewrap);
  const uint64_t megabyte = 1 << 20;
  LaunchOptions launch;
  const std::string home = DirectoryInside(program.scratch);
  launch.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home,
                        "TMPDIR=" + (method_ == SandboxMethod::kBubblewrap ? "/tmp" : home),
                        "LANG=C.UTF-8"};
  launch.environment.insert(launch.environment.end(), program.environment.begin(),
                            program.environment.end());
  launch.descriptors = program.descriptors;
  launch.identity = identity_;
  launch.same_addresses = program.same_addresses;
  launch.limits = {{RLIMIT_AS, static_cast<uint64_t>(options_.memory_mb) * megabyte},
                   {RLIMIT_FSIZE, static_cast<uint64_t>(options_.scratch_mb) * megabyte},
                   {RLIMIT_NOFILE, static_cast<uint64_t>(options_.max_open_files)},
                   {RLIMIT_CORE, 0},
                   {RLIMIT_MEMLOCK, 0}};
  if (options_.cpu_seconds > 0 && !program.supervisor) {
    launch.limits.push_back({RLIMIT_CPU, static_cast<uint64_t>(options_.cpu_seconds)});
  }
  // A supervisor takes the others with it when it hears that we are gone; a room ends as a whole.
  if (program.supervisor && method_ != SandboxMethod::kBubblewrap) launch.death_signal = SIGTERM;
  switch (method_) {
    case SandboxMethod::kBubblewrap: return StartInRoom(program, std::move(launch));
    case SandboxMethod::kLandlock: return StartUnderLandlock(program, std::move(launch));
    case SandboxMethod::kNone: break;
  }
  launch.command = program.command;
  launch.directory = program.scratch->path().string();
  return Launch(launch);
}

Result<pid_t> Sandbox::StartInRoom(const Program& program, LaunchOptions launch) const {
  // A room has its own processes, which cannot see others: signals and groups need no rule.
  SyscallRules rules;
  rules.processes = program.supervisor || options_.max_processes > 1;
  rules.outlive_parent = program.supervisor;
  if (program.scratch != nullptr) BoundFiles(program.supervisor, &rules);
  HONE_ASSIGN_OR_RETURN(const Descriptor filter, FilterFile(SeccompFilter(rules)));
  BubblewrapRoom room;
  room.readable = ReadablePaths(options_);
  if (program.scratch != nullptr) room.scratch = program.scratch->path().string();
  room.temporary_bytes = static_cast<uint64_t>(options_.scratch_mb) << 20;
  room.environment = std::exchange(launch.environment, {});
  room.directory = DirectoryInside(program.scratch);
  room.filter_descriptor = static_cast<int>(launch.descriptors.size());
  launch.descriptors.push_back(filter.get());
  std::vector<std::string> command = program.command;
  if (program.supervisor) {
    room.as_first_process = true;
  } else {
    // Inside, because outside it would count the processes of all rooms; besides the program there
    // is process 1 of the room.
    command.insert(command.begin(),
                   {"/usr/bin/prlimit",
                    fmt::format("--nproc={}", options_.max_processes + kThreads + 1), "--"});
  }
  launch.command = BubblewrapCommand(room, command);
  return Launch(launch);
}

Result<pid_t> Sandbox::StartUnderLandlock(const Program& program, LaunchOptions launch) const {
  const int version = LandlockVersion();
  SyscallRules rules;
  rules.processes = program.supervisor || options_.max_processes > 1;
  rules.outlive_parent = program.supervisor;
  rules.signal_others = program.supervisor || version >= kLandlockSignals;
  rules.adjust_others = false;
  rules.leave_group = false;
  rules.file_metadata = false;
  rules.truncate_paths = version >= kLandlockTruncates;
  BoundFiles(program.supervisor, &rules);
  launch.filter = SeccompFilter(rules);
  LandlockRules files;
  files.readable = ReadablePaths(options_);
  files.devices = kDevices;
  files.writable = {program.scratch->path().string()};
  HONE_ASSIGN_OR_RETURN(const Descriptor ruleset, NewLandlockRuleset(files));
  launch.landlock_ruleset = ruleset.get();
  launch.limits.push_back({RLIMIT_NPROC, TasksOf(identity_ ? identity_->user : ::getuid()) +
                                             kThreadsOfTheUser +
                                             static_cast<uint64_t>(options_.max_processes)});
  launch.command = program.command;
  launch.directory = program.scratch->path().string();
  return Launch(launch);
}

Result<SubprocessResult> RunConfined(const Sandbox& sandbox, const ConfinedRun& run,
                                     std::stop_token stop) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Scratch> scratch, Scratch::New(sandbox.identity()));
  for (const auto& [name, content] : run.files) {
    HONE_RETURN_IF_ERROR(scratch->Write(name, content));
  }
  SubprocessOptions options;
  options.max_output_bytes = run.max_output_bytes;
  std::atomic<pid_t> leader = 0;
  options.launch = [&](int input, int output, int error) {
    Sandbox::Program program;
    program.command = run.command;
    program.environment = run.environment;
    program.descriptors = {input, output, error};
    program.scratch = scratch.get();
    Result<pid_t> started = sandbox.Start(program);
    if (started.ok()) leader = *started;
    return started;
  };
  // No limit of the kernel's holds for a folder or for several processes, so somebody looks.
  SandboxWatch watch(sandbox, scratch.get(), false);
  std::stop_source end;
  std::stop_callback passed_on(stop, [&end] { end.request_stop(); });
  std::optional<std::string> excess;
  Result<SubprocessResult> result = [&] {
    std::jthread watcher([&](const std::stop_token& done) {
      Mutex mutex;
      MutexLock lock(mutex);
      ConditionVariable over;
      while (!over.wait_for(lock, done, kBetweenLooks, [&] { return done.stop_requested(); })) {
        if (leader > 0) excess = watch.Excess(leader);
        if (!excess) continue;
        end.request_stop();
        return;
      }
    });
    return RunSubprocess(run.command, run.input, run.deadline, options, end.get_token());
  }();
  if (excess && !result.ok() && result.error().code() == ErrorCode::kStopped) {
    return Error(ErrorCode::kFull, fmt::format("{}: {}", run.command[0], *excess));
  }
  return result;
}

}  // namespace hone
