#include "base/subprocess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <future>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"
#include "base/mutex.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// How long a wait lasts before the stop token is looked at again.
constexpr milliseconds kPollSlice{20};

// A descriptor of our own end of a pipe, closed at most once.
void CloseOnce(int* fd) {
  if (*fd >= 0) ::close(*fd);
  *fd = -1;
}

struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
  }
  ~Pipe() {
    CloseOnce(&read);
    CloseOnce(&write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool ok() const { return read >= 0; }
  int TakeRead() { return std::exchange(read, -1); }
  int TakeWrite() { return std::exchange(write, -1); }
};

void SetNonBlocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Everything the child needs, as plain memory made before it is forked.
struct Program {
  std::vector<char*> command, environment;
  const char* directory = nullptr;
  int input = -1, output = -1, error = -1;
  int report = -1;  // a pipe that the child writes its errno to, and that a start closes
  pid_t parent = 0;
};

// Only async-signal-safe calls, and no change of memory that is not the child's.
[[noreturn]] void BecomeProgram(const Program& program) {
  int report = program.report;
  const auto fail = [&report] {
    const int failure = errno;
    [[maybe_unused]] const ssize_t written = ::write(report, &failure, sizeof failure);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  // Copies first: our own ends may lie where the program's are to be.
  const int copy = ::fcntl(report, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) fail();
  report = copy;
  int ends[3] = {program.input, program.output, program.error};
  for (int& end : ends) {
    if (end >= 0 && (end = ::fcntl(end, F_DUPFD_CLOEXEC, 3)) < 0) fail();
  }
  for (int i = 0; i < 3; ++i) {
    if (ends[i] >= 0 && ::dup2(ends[i], i) < 0) fail();
  }
  // Nothing that we have open, or that we were started with, is the program's business.
  if (::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    for (int fd = 3; fd < 65536; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  if (program.directory != nullptr && ::chdir(program.directory) != 0) fail();
  // Nor are our handlers, our mask and our ignoring of SIGPIPE.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_IGN && signal != SIGPIPE) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != program.parent) ::_exit(127);  // it died before we asked to be told
  ::execvpe(program.command[0], program.command.data(), program.environment.data());
  fail();
  ::_exit(127);
}

// The one thread that starts programs. A program is killed when the thread that started it ends
// (so that none outlives us, whatever ends us), and the threads that ask for programs come and go.
class Starter {
 public:
  static Starter& Get() {
    static Mutex mutex;
    static Starter* starter = nullptr;  // never removed: programs may be asked for until the end
    const MutexLock lock(mutex);
    // A process that was forked has not this thread of ours.
    if (starter == nullptr || starter->process_ != ::getpid()) starter = new Starter;
    return *starter;
  }

  // The process id; negative, with the reason in *failure.
  pid_t Start(const Program& program, int* failure) {
    std::packaged_task<pid_t()> task([&program, failure] { return Fork(program, failure); });
    std::future<pid_t> pid = task.get_future();
    {
      const MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    more_.notify_one();
    return pid.get();
  }

 private:
  Starter() : process_(::getpid()) {
    std::thread([this] { Serve(); }).detach();
  }

  std::packaged_task<pid_t()> Next() {
    MutexLock lock(mutex_);
    more_.wait(lock, [this]() HONE_REQUIRES(mutex_) { return !tasks_.empty(); });
    std::packaged_task<pid_t()> task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  [[noreturn]] void Serve() {
    while (true) Next()();
  }

  // vfork: a trainer's memory is large, and copying its page tables would take long.
  static pid_t Fork(const Program& program, int* failure) {
    // No signal handler of ours may run in the child, which shares our memory.
    sigset_t all, previous;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &previous);
    const pid_t pid = ::vfork();
    if (pid == 0) BecomeProgram(program);
    if (pid < 0) *failure = errno;
    ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return pid;
  }

  const pid_t process_;
  Mutex mutex_;
  ConditionVariable more_;
  std::deque<std::packaged_task<pid_t()>> tasks_ HONE_GUARDED_BY(mutex_);
};

// What the child of a start wrote before it gave up; 0 when it became the program. Memory cannot
// say it: where vfork is fork, as under the thread sanitizer, the child has its own.
int ReportedFailure(Pipe* report) {
  CloseOnce(&report->write);
  int failure = 0;
  while (::read(report->read, &failure, sizeof failure) < 0 && errno == EINTR) {
  }
  return failure;
}

// Starts the command in a process group of its own. A negative `error_fd` leaves stderr shared.
Result<pid_t> Spawn(const std::vector<std::string>& command, const SubprocessOptions& options,
                    int input_fd, int output_fd, int error_fd) {
  CHECK(!command.empty());
  if (options.launch) return options.launch(input_fd, output_fd, error_fd);
  Program program;
  program.command = Pointers(command);
  if (options.environment) {
    program.environment = Pointers(*options.environment);
  } else {
    for (char** variable = ::environ; *variable != nullptr; ++variable) {
      program.environment.push_back(*variable);
    }
    program.environment.push_back(nullptr);
  }
  if (!options.directory.empty()) program.directory = options.directory.c_str();
  program.input = input_fd;
  program.output = output_fd;
  program.error = error_fd;
  program.parent = ::getpid();
  Pipe report;
  if (!report.ok()) return ErrnoError("cannot create a pipe");
  program.report = report.write;
  int failure = 0;
  const pid_t pid = Starter::Get().Start(program, &failure);
  if (pid > 0) failure = ReportedFailure(&report);
  if (failure == 0) return pid;
  while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  errno = failure;
  return ErrnoError("cannot start " + command[0]);
}

int ExitCode(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What is left until `deadline`, at least 0, at most one slice: how long one poll may block.
int PollTimeout(SteadyClock::time_point deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), kPollSlice).count());
}

Result<void> CheckTime(SteadyClock::time_point deadline, const std::stop_token& stop,
                       std::string_view what) {
  if (stop.stop_requested()) return Error(ErrorCode::kStopped, fmt::format("{}: stopped", what));
  if (SteadyClock::now() >= deadline) {
    return Error(ErrorCode::kDeadline, fmt::format("{}: no end within its deadline", what));
  }
  return {};
}

// Appends what one read gives, so that limits are looked at in between. False at the end of the
// stream and, with *more, true as long as there may be more right now.
bool ReadSome(int fd, std::string* out, bool* more) {
  char buffer[1 << 16];
  ssize_t count = 0;
  do {
    count = ::read(fd, buffer, sizeof buffer);
  } while (count < 0 && errno == EINTR);
  *more = count > 0;
  if (count > 0) out->append(buffer, static_cast<size_t>(count));
  return count > 0 || (count < 0 && errno == EAGAIN);
}

// Writes what fits now and removes it from *bytes. False when the reader is gone.
bool Feed(int fd, std::string_view* bytes) {
  while (!bytes->empty()) {
    const ssize_t count = ::write(fd, bytes->data(), bytes->size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    bytes->remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// A write to a program that has gone raises SIGPIPE, which would end us.
void IgnoreSigpipe() {
  static const auto previous = std::signal(SIGPIPE, SIG_IGN);
  (void)previous;
}

// Whether the program has ended; it stays to be reaped, so its process group id is still its own.
bool HasEnded(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

// Ends what is left of the group, then reaps the leader: in this order, because after the reaping
// the group's number may be somebody else's.
int KillGroupAndReap(pid_t pid) {
  ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return ExitCode(status);
}

Result<int> WaitFor(pid_t pid, SteadyClock::time_point deadline, const std::stop_token& stop,
                    std::string_view what) {
  while (!HasEnded(pid)) {
    HONE_RETURN_IF_ERROR(CheckTime(deadline, stop, what));
    ::poll(nullptr, 0, std::min(PollTimeout(deadline), 2));
  }
  return KillGroupAndReap(pid);
}

}  // namespace

Result<SubprocessResult> RunSubprocess(const std::vector<std::string>& command,
                                       std::string_view input, milliseconds deadline,
                                       const SubprocessOptions& options, std::stop_token stop) {
  IgnoreSigpipe();
  const auto end = SteadyClock::now() + deadline;
  Pipe in, out, err;
  if (!in.ok() || !out.ok() || !err.ok()) return ErrnoError("cannot create a pipe");
  HONE_ASSIGN_OR_RETURN(const pid_t pid, Spawn(command, options, in.read, out.write, err.write));
  CloseOnce(&in.read);
  CloseOnce(&out.write);
  CloseOnce(&err.write);
  for (const int fd : {in.write, out.read, err.read}) SetNonBlocking(fd);

  SubprocessResult result;
  // Reads one stream if it has something; closes it at its end. True when there may be more at
  // once.
  auto read_from = [](int* fd, std::string* into) {
    bool more = false;
    if (*fd >= 0 && !ReadSome(*fd, into, &more)) CloseOnce(fd);
    return more;
  };
  auto finished = [&]() -> Result<void> {
    if (input.empty()) CloseOnce(&in.write);
    while (out.read >= 0 || err.read >= 0) {
      HONE_RETURN_IF_ERROR(CheckTime(end, stop, command[0]));
      // A program that has ended may have left others with its pipes open: what it said is all
      // here.
      const bool ended = HasEnded(pid);
      pollfd polled[3] = {{in.write, POLLOUT, 0}, {out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
      if (::poll(polled, 3, ended ? 0 : PollTimeout(end)) < 0 && errno != EINTR) {
        return ErrnoError("poll");
      }
      if (polled[0].revents != 0 && (!Feed(in.write, &input) || input.empty())) {
        CloseOnce(&in.write);
      }
      bool more = false;
      if (polled[1].revents != 0) more |= read_from(&out.read, &result.standard_output);
      if (polled[2].revents != 0) more |= read_from(&err.read, &result.standard_error);
      if (std::max(result.standard_output.size(), result.standard_error.size()) >
          options.max_output_bytes) {
        return Error(ErrorCode::kFull, fmt::format("{}: printed more than {} bytes", command[0],
                                                   options.max_output_bytes));
      }
      if (ended && !more) break;
    }
    HONE_ASSIGN_OR_RETURN(result.exit_code, WaitFor(pid, end, stop, command[0]));
    return {};
  }();
  if (!finished.ok()) {
    KillGroupAndReap(pid);
    return finished.error();
  }
  return result;
}

Subprocess::Subprocess(int pid, int input, int output, int error, const SubprocessOptions& options)
    : pid_(pid),
      input_(input),
      output_(output),
      error_(error),
      max_output_bytes_(options.max_output_bytes),
      keep_error_bytes_(options.keep_error_bytes) {
  for (const int fd : {input_, output_, error_}) {
    if (fd >= 0) SetNonBlocking(fd);
  }
}

Result<std::unique_ptr<Subprocess>> Subprocess::Start(const std::vector<std::string>& command,
                                                      const SubprocessOptions& options) {
  IgnoreSigpipe();
  Pipe in, out, err;
  if (!in.ok() || !out.ok() || !err.ok()) return ErrnoError("cannot create a pipe");
  const bool keep = options.keep_error_bytes > 0;
  HONE_ASSIGN_OR_RETURN(const pid_t pid,
                        Spawn(command, options, in.read, out.write, keep ? err.write : -1));
  return std::unique_ptr<Subprocess>(
      new Subprocess(pid, in.TakeWrite(), out.TakeRead(), keep ? err.TakeRead() : -1, options));
}

Subprocess::~Subprocess() {
  CloseOnce(&input_);
  CloseOnce(&output_);
  if (error_ >= 0) ::close(error_);
  if (!reaped_) KillGroupAndReap(pid_);
}

Result<void> Subprocess::Write(std::string_view bytes, milliseconds deadline,
                               std::stop_token stop) {
  const auto end = SteadyClock::now() + deadline;
  while (true) {
    if (input_ < 0 || !Feed(input_, &bytes)) {
      return Error(ErrorCode::kUnavailable, "the program no longer reads its input");
    }
    if (bytes.empty()) return {};
    HONE_RETURN_IF_ERROR(CheckTime(end, stop, "write"));
    pollfd polled[2] = {{input_, POLLOUT, 0}, {errors_ended_ ? -1 : error_, POLLIN, 0}};
    ::poll(polled, 2, PollTimeout(end));
    if (polled[1].revents != 0) TakeErrors();
  }
}

void Subprocess::CloseInput() { CloseOnce(&input_); }

Result<std::string> Subprocess::ReadLine(milliseconds deadline, std::stop_token stop) {
  const auto end = SteadyClock::now() + deadline;
  bool open = true;
  while (true) {
    const size_t newline = buffer_.find('\n', searched_);
    searched_ = buffer_.size();
    if (newline != std::string::npos || (!open && !buffer_.empty())) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline == std::string::npos ? newline : newline + 1);
      searched_ = 0;
      return line;
    }
    if (!open) return Error(ErrorCode::kUnavailable, "the program's output has ended");
    if (buffer_.size() > max_output_bytes_) {
      return Error(ErrorCode::kFull,
                   fmt::format("a line of more than {} bytes", max_output_bytes_));
    }
    HONE_RETURN_IF_ERROR(CheckTime(end, stop, "read"));
    pollfd polled[2] = {{output_, POLLIN, 0}, {errors_ended_ ? -1 : error_, POLLIN, 0}};
    if (::poll(polled, 2, PollTimeout(end)) <= 0) continue;
    if (polled[1].revents != 0) TakeErrors();
    bool more = false;
    if (polled[0].revents != 0) open = ReadSome(output_, &buffer_, &more);
  }
}

void Subprocess::TakeErrors() {
  const MutexLock lock(mutex_);
  // Who writes without an end is not read without an end: the asker has a deadline.
  constexpr int kMostReads = 16;
  bool more = error_ >= 0 && !errors_ended_;
  for (int reads = 0; more && reads < kMostReads; ++reads) {
    if (!ReadSome(error_, &errors_, &more)) errors_ended_ = true;
    if (errors_.size() > keep_error_bytes_) errors_.erase(0, errors_.size() - keep_error_bytes_);
  }
}

std::string Subprocess::LastErrors() {
  TakeErrors();
  const MutexLock lock(mutex_);
  return errors_;
}

Result<int> Subprocess::Wait(milliseconds deadline, std::stop_token stop) {
  CHECK(!reaped_, "Wait after the end was already seen");
  const auto end = SteadyClock::now() + deadline;
  while (!HasEnded(pid_)) {
    TakeErrors();
    HONE_RETURN_IF_ERROR(CheckTime(end, stop, "wait"));
    ::poll(nullptr, 0, std::min(PollTimeout(end), 2));
  }
  TakeErrors();
  reaped_ = true;
  return KillGroupAndReap(pid_);
}

}  // namespace hone
