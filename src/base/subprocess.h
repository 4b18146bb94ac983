#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace hone {

struct SubprocessOptions {
  std::string directory;                                // working directory; empty: the caller's
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; absent: the caller's
  size_t max_output_bytes = 64 << 20;                   // per stream; more is an error, not a hang
  // Of a Subprocess: how much of the end of its standard error is kept; 0: it goes to ours.
  size_t keep_error_bytes = 0;
  // Another way to start the program: with these as its standard input, output and error (negative:
  // ours), as the leader of a process group of its own. Returns its process id. The directory and
  // the environment are then its business.
  std::function<Result<int>(int input, int output, int error)> launch;
};

struct SubprocessResult {
  int exit_code = 0;  // 0..255, or 128 + the signal that ended it
  std::string standard_output;
  std::string standard_error;
};

// A program has the three standard descriptors and no others, is the leader of a process group, and
// is killed when this process ends, whatever ends it.

// Runs a program to its end: writes `input` to it, collects what it prints. At its end, at
// the deadline, on stop or when it prints too much, every process of its group is killed and the
// program reaped: no zombie is left, nor any process that did not leave the group on purpose
// (setsid). A program that cannot be started is kNotFound or kIo.
Result<SubprocessResult> RunSubprocess(const std::vector<std::string>& command,
                                       std::string_view input, std::chrono::milliseconds deadline,
                                       const SubprocessOptions& options = {},
                                       std::stop_token stop = {});

// A program that is talked to line by line while it runs. One thread may write (Write, CloseInput)
// while another reads (ReadLine, Wait); two that write, or two that read, must take turns.
class Subprocess {
 public:
  // Starts it. Its standard error goes to ours, or is kept: see keep_error_bytes.
  static Result<std::unique_ptr<Subprocess>> Start(const std::vector<std::string>& command,
                                                   const SubprocessOptions& options = {});
  // Kills the whole group and reaps it.
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  // Writes all of it, or fails at the deadline or when the program no longer reads.
  Result<void> Write(std::string_view bytes, std::chrono::milliseconds deadline,
                     std::stop_token stop = {});
  void CloseInput();
  // The next line without its '\n'; the last one may lack it. kUnavailable at the end of output.
  Result<std::string> ReadLine(std::chrono::milliseconds deadline, std::stop_token stop = {});
  // Waits for the end, kills what is left of the group, and returns the exit code as in
  // SubprocessResult; kDeadline leaves it running.
  Result<int> Wait(std::chrono::milliseconds deadline, std::stop_token stop = {});

  // The end of what it has written to its standard error until now. Thread-safe.
  std::string LastErrors();

  int pid() const { return pid_; }

 private:
  Subprocess(int pid, int input, int output, int error, const SubprocessOptions& options);

  // Takes in what waits on the standard error, so that the program is never held up by it.
  void TakeErrors();

  int pid_;
  int input_;
  int output_;
  const int error_;  // negative: not kept
  size_t max_output_bytes_;
  size_t keep_error_bytes_;
  std::string buffer_;
  size_t searched_ = 0;  // no line ends in this much of the buffer
  bool reaped_ = false;

  Mutex mutex_;
  std::string errors_ HONE_GUARDED_BY(mutex_);  // the end of what was taken from error_
  std::atomic<bool> errors_ended_ = false;
};

}  // namespace hone
