#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"
#include "tools/sandbox/sandbox.h"
#include "tools/sandbox/sandbox_watch.h"

namespace hone {

struct PythonWorkerOptions {
  std::string python = "/usr/bin/python3";
  size_t max_output_bytes = 1 << 20;  // of each stream, of the value and of a traceback
  bool keep_state = false;            // an interpreter serves many calls
};

// What came of a piece of code.
struct PythonOutcome {
  std::string standard_output, standard_error;  // well-formed UTF-8
  std::optional<std::string> value;             // the last expression as text; absent when None
  std::optional<std::string> raised;            // a traceback, of the code's own frames
  // Why the interpreter is gone, a sentence about the code; empty when it lives.
  std::string ended;
  bool out_of_time = false;  // that is why
};

// A sandbox with one Python in it that stands ready to run code. The code runs in an interpreter
// that a supervisor inside the sandbox forked for it, in a fraction of the time that a Python takes
// to start; nothing one interpreter does (patched modules, files, threads) is seen by the next.
// Never two interpreters at once in one sandbox. One thread at a time.
class PythonWorker {
 public:
  // Returns when it is ready (tens of milliseconds). It is killed when the calling thread ends.
  static Result<std::unique_ptr<PythonWorker>> Start(const Sandbox& sandbox,
                                                     const PythonWorkerOptions& options);
  // Kills everything in the sandbox.
  ~PythonWorker();
  PythonWorker(const PythonWorker&) = delete;
  PythonWorker& operator=(const PythonWorker&) = delete;

  // Puts a fresh interpreter in the place of the one there is; does not wait for it. After an error
  // the worker is of no more use.
  Result<void> Renew();

  // Waits until the fresh interpreter is there. An error as of Execute, or kDeadline.
  Result<void> Ready(std::chrono::milliseconds time, const std::stop_token& stop);

  // Runs code in the interpreter, for so long once it is ready; `seed` is for the random module and
  // counts at the first call. An error is not about the code (kStopped, or the worker broke), and
  // the worker is of no more use. An interpreter that `ended` has to be renewed, which is also what
  // kills it.
  Result<PythonOutcome> Execute(std::string_view code, uint64_t seed,
                                std::chrono::milliseconds time, std::stop_token stop);

  // Whether another program's code may follow in this sandbox.
  bool reusable() const { return reusable_; }
  int pid() const { return pid_; }

 private:
  PythonWorker(const Sandbox& sandbox, const PythonWorkerOptions& options);
  Result<void> Launch(const Sandbox& sandbox);
  Error StartError(const Error& cause) const;
  // The supervisor's next packet.
  Result<std::string> Acknowledged(std::chrono::milliseconds time, const std::stop_token& stop);
  // Asks how the interpreter ended.
  Result<std::string> HowItEnded();
  enum class Finish { kReplied, kClosed, kTooMuch, kExcess, kLate, kStopped };
  Finish Converse(std::string_view request, std::chrono::milliseconds time,
                  const std::stop_token& stop, PythonOutcome* outcome, std::string* reply);
  bool ReadOutputs(PythonOutcome* outcome);
  bool IsExcessive();
  Result<void> End(Finish finish, std::chrono::milliseconds time, PythonOutcome* outcome);

  PythonWorkerOptions options_;
  SandboxOptions limits_;
  bool reusable_ = true;
  std::unique_ptr<Scratch> scratch_;  // null: the sandbox has its own
  std::unique_ptr<SandboxWatch> watch_;
  std::string excess_;  // what the code had too much of
  int pid_ = -1;
  Descriptor control_, log_;
  Descriptor conversation_, output_, error_;
  bool starting_ = false;  // a "next" is not acknowledged yet
  bool paused_ = false;    // the interpreter is stopped until its next call
  std::chrono::steady_clock::time_point look_again_;  // when its bounds are looked at next
};

}  // namespace hone
