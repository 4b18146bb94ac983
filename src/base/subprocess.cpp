#include "base/subprocess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.h"

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

// Starts the command in a process group of its own. A negative `error_fd` leaves stderr shared.
Result<pid_t> Spawn(const std::vector<std::string>& command, const SubprocessOptions& options,
                    int input_fd, int output_fd, int error_fd) {
  CHECK(!command.empty());
  if (options.launch) return options.launch(input_fd, output_fd, error_fd);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input_fd, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
  if (error_fd >= 0) posix_spawn_file_actions_adddup2(&actions, error_fd, STDERR_FILENO);
  if (!options.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Our own mask and our ignoring of SIGPIPE are not the child's business.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  std::vector<char*> environment;
  if (options.environment) environment = Pointers(*options.environment);
  const int status =
      ::posix_spawnp(&pid, command[0].c_str(), &actions, &attributes, Pointers(command).data(),
                     options.environment ? environment.data() : ::environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (status != 0) {
    errno = status;
    return ErrnoError("cannot start " + command[0]);
  }
  return pid;
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
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
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
