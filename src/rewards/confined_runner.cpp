#include "rewards/confined_runner.h"

#include <mutex>
#include <optional>

#include "base/mutex.h"
#include "tools/sandbox/sandbox.h"

namespace hone {
namespace {

class ConfinedRunner final : public ProgramRunner {
 public:
  Result<ProgramOutput> Run(std::string_view program, std::string_view input) override {
    std::call_once(set_up_, [&] { sandbox_.emplace(Sandbox::New({})); });
    if (!sandbox_->ok()) return sandbox_->error();
    const MutexLock lock(mutex_);
    const Result<SubprocessResult> run =
        RunConfined(sandbox_->value(), {.command = {"/usr/bin/python3", "answer.py"},
                                        .input = std::string(input),
                                        .files = {{"answer.py", std::string(program)}}});
    if (run.ok()) return ProgramOutput{run->standard_output, run->exit_code == 0};
    const ErrorCode code = run.error().code();
    // Too slow, or too much: the program's own doing.
    if (code == ErrorCode::kDeadline || code == ErrorCode::kFull) return ProgramOutput{};
    return run.error();
  }

 private:
  std::once_flag set_up_;
  Mutex mutex_;  // a program's time is its own: none runs beside it
  std::optional<Result<Sandbox>> sandbox_;
};

}  // namespace

std::unique_ptr<ProgramRunner> NewConfinedRunner() { return std::make_unique<ConfinedRunner>(); }

}  // namespace hone
