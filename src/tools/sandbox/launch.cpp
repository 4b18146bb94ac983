#include "tools/sandbox/launch.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/file.h"

namespace hone {
namespace {

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

// Our own copies of descriptors lie above this, the program's below.
constexpr int kFirstOfOurs = 64;

// What the child can fail at. It has no way to format a message, so it sends one of these.
enum class Step : int {
  kSession,
  kDescriptors,
  kDirectory,
  kIdentity,
  kLimits,
  kPrivileges,
  kLandlock,
  kFilter,
  kExec
};

const char* StepName(Step step) {
  switch (step) {
    case Step::kSession: return "making its session";
    case Step::kDescriptors: return "handing over its descriptors";
    case Step::kDirectory: return "entering its directory";
    case Step::kIdentity: return "becoming an ordinary user";
    case Step::kLimits: return "setting its limits";
    case Step::kPrivileges: return "giving up privileges";
    case Step::kLandlock: return "applying the Landlock rules";
    case Step::kFilter: return "applying the filter of system calls";
    case Step::kExec: return "executing it";
  }
  return "an unknown step";
}

struct Failure {
  Step step;
  int error;
};

// Everything the child needs, as plain memory made before the fork.
struct Prepared {
  std::vector<char*> command, environment;
  const char* directory = nullptr;
  std::vector<int> descriptors;
  std::vector<LaunchOptions::ResourceLimit> limits;
  std::optional<LaunchOptions::Identity> identity;
  int landlock_ruleset = -1;
  std::vector<sock_filter> filter;
  bool same_addresses = false;
  int death_signal = SIGKILL;
  pid_t parent = 0;
  int report = -1;
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// From here to "end of the child": only async-signal-safe calls. The child of a vfork shares our
// memory, so what it changes there we would see; and library wrappers that speak to all threads
// (setuid) would speak to ours. Hence the bare system calls.

[[noreturn]] void Fail(const Prepared& launch, Step step) {
  const Failure failure{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(launch.report, &failure, sizeof failure);
  ::_exit(127);
}

void CloseOthersOnExec(unsigned first) {
  if (::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  for (unsigned fd = first; fd < 65536; ++fd) ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
}

void ResetSignals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < 65; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void BecomeOrdinary(const Prepared& launch) {
  const LaunchOptions::Identity& who = *launch.identity;
  // A user namespace may forbid setgroups; then there are no foreign groups to lose either.
  if (::syscall(SYS_setgroups, 0, nullptr) != 0 && errno != EPERM) Fail(launch, Step::kIdentity);
  if (::syscall(SYS_setresgid, who.group, who.group, who.group) != 0 ||
      ::syscall(SYS_setresuid, who.user, who.user, who.user) != 0) {
    Fail(launch, Step::kIdentity);
  }
}

void GiveUpPrivileges(const Prepared& launch) {
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability);  // fails for those who never had any
  }
  if (launch.identity) BecomeOrdinary(launch);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_PDEATHSIG, launch.death_signal) != 0 ||
      ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    Fail(launch, Step::kPrivileges);
  }
  if (::getppid() != launch.parent) ::_exit(127);  // it died before we asked to be told
}

void FillInOwnProcess(Prepared* launch) {
  const auto own = static_cast<uint32_t>(::getpid());
  for (sock_filter& instruction : launch->filter) {
    if (instruction.k == kOwnProcess) instruction.k = own;
  }
}

[[noreturn]] void BecomeProgram(Prepared* launch) {
  if (::setsid() < 0) Fail(*launch, Step::kSession);
  for (size_t i = 0; i < launch->descriptors.size(); ++i) {
    if (::dup2(launch->descriptors[i], static_cast<int>(i)) < 0) Fail(*launch, Step::kDescriptors);
  }
  CloseOthersOnExec(static_cast<unsigned>(launch->descriptors.size()));
  ResetSignals();
  if (launch->directory != nullptr && ::chdir(launch->directory) != 0)
    Fail(*launch, Step::kDirectory);
  if (launch->same_addresses) ::syscall(SYS_personality, ADDR_NO_RANDOMIZE);
  GiveUpPrivileges(*launch);
  for (const LaunchOptions::ResourceLimit& limit : launch->limits) {
    const rlimit value{limit.value, limit.value};
    if (::syscall(SYS_prlimit64, 0, limit.resource, &value, nullptr) != 0) {
      Fail(*launch, Step::kLimits);
    }
  }
  if (launch->landlock_ruleset >= 0 &&
      ::syscall(SYS_landlock_restrict_self, launch->landlock_ruleset, 0) != 0) {
    Fail(*launch, Step::kLandlock);
  }
  if (!launch->filter.empty()) {
    FillInOwnProcess(launch);
    const sock_fprog program{static_cast<unsigned short>(launch->filter.size()),
                             launch->filter.data()};
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) Fail(*launch, Step::kFilter);
  }
  ::execve(launch->command[0], launch->command.data(), launch->environment.data());
  Fail(*launch, Step::kExec);
}

// End of the child.

// vfork, not fork: a trainer's memory is large, and copying its page tables for every worker would
// take longer than the worker's start.
pid_t Fork(Prepared* launch) {
  // No signal handler of ours may run in the child, which shares our memory.
  sigset_t all, previous;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous);
  // Changing the user makes the memory, which is ours too, undumpable.
  const int dumpable = ::prctl(PR_GET_DUMPABLE);
  const pid_t pid = ::vfork();
  if (pid == 0) BecomeProgram(launch);
  if (::prctl(PR_GET_DUMPABLE) != dumpable && dumpable == 1) ::prctl(PR_SET_DUMPABLE, 1);
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return pid;
}

}  // namespace

Result<pid_t> Launch(const LaunchOptions& launch) {
  CHECK(!launch.command.empty() && launch.command[0].starts_with('/'));
  CHECK(launch.descriptors.size() <= 16);
  Prepared prepared;
  prepared.command = Pointers(launch.command);
  prepared.environment = Pointers(launch.environment);
  if (!launch.directory.empty()) prepared.directory = launch.directory.c_str();
  prepared.limits = launch.limits;
  prepared.identity = launch.identity;
  prepared.filter = launch.filter;
  prepared.same_addresses = launch.same_addresses;
  prepared.death_signal = launch.death_signal;
  prepared.parent = ::getpid();

  std::vector<Descriptor> ours;
  auto raised = [&ours](int fd) {
    return ours.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstOfOurs)).get();
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("cannot create a pipe");
  Descriptor report(ends[0]), report_low(ends[1]);
  for (const int fd : launch.descriptors) prepared.descriptors.push_back(raised(fd));
  if (launch.landlock_ruleset >= 0) prepared.landlock_ruleset = raised(launch.landlock_ruleset);
  prepared.report = raised(report_low.get());
  for (const Descriptor& descriptor : ours) {
    if (!descriptor.ok()) return ErrnoError("cannot copy a descriptor");
  }
  report_low.Close();

  const pid_t pid = Fork(&prepared);
  if (pid < 0) return ErrnoError("cannot start " + launch.command[0]);
  ours.clear();
  Failure failure{};
  ssize_t count = 0;
  do {
    count = ::read(report.get(), &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  if (count == 0) return pid;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  errno = failure.error;
  return ErrnoError(
      fmt::format("cannot start {}: {} failed", launch.command[0], StepName(failure.step)));
}

}  // namespace hone
