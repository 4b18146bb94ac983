#include "tools/builtin/python_worker.h"

#include <csignal>

#include <fmt/format.h>

#include "support/confinement.h"
#include "tools/sandbox/process_tree.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PythonWorkerTest : public ConfinementTest {
 protected:
  Sandbox NewSandbox() const {
    SandboxOptions options;
    options.isolation = method();
    return Sandbox::New(options).value();
  }
  std::unique_ptr<PythonWorker> Start(const PythonWorkerOptions& options = {}) const {
    auto worker = PythonWorker::Start(NewSandbox(), options);
    CHECK(worker.ok(), worker.error().message());
    return std::move(worker).value();
  }
};
HONE_UNDER_EVERY_METHOD(PythonWorkerTest);

TEST_P(PythonWorkerTest, OneInterpreterKeepsItsVariablesAFreshOneHasNone) {
  const auto worker = Start();
  EXPECT_EQ(worker->Execute("x = 1", 0, seconds(20), {})->value, std::nullopt);
  EXPECT_EQ(worker->Execute("x", 0, seconds(20), {})->value, "1");
  ASSERT_TRUE(worker->Renew().ok());
  const auto outcome = worker->Execute("x", 0, seconds(20), {});
  EXPECT_NE(outcome->raised->find("NameError"), std::string::npos);
  EXPECT_EQ(outcome->ended, "");
}

TEST_P(PythonWorkerTest, LateCodeKeepsWhatItPrintedAndIsGoneAfterRenewal) {
  const auto worker = Start();
  const auto late =
      worker->Execute("print('so far', flush=True)\nwhile True: pass", 0, milliseconds(500), {});
  ASSERT_TRUE(late.ok());
  EXPECT_TRUE(late->out_of_time);
  EXPECT_EQ(late->ended, "the code ran longer than 500 ms");
  EXPECT_EQ(late->standard_output, "so far\n");
  ASSERT_TRUE(worker->Renew().ok());
  EXPECT_EQ(worker->Execute("2", 0, seconds(20), {})->value, "2");
}

TEST_P(PythonWorkerTest, AStopIsAnError) {
  const auto worker = Start();
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = worker->Execute("while True: pass", 0, seconds(20), stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
}

TEST_P(PythonWorkerTest, AWorkerThatWasKilledSaysSo) {
  const auto worker = Start();
  ::kill(-worker->pid(), SIGKILL);
  // What is inside the sandbox dies a moment later, and not all at once.
  bool works = true;
  for (int i = 0; i < 1000 && works; ++i) {
    works = worker->Execute("1", 0, seconds(20), {}).ok() && worker->Renew().ok();
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_FALSE(works);
}

TEST_P(PythonWorkerTest, LargeCodeAndLargeAnswersGoThrough) {
  const auto worker = Start();
  const std::string code = "x = '" + std::string(3 << 20, 'a') + "'\nlen(x)";
  EXPECT_EQ(worker->Execute(code, 0, seconds(20), {})->value, std::to_string(3 << 20));
  const auto outcome = worker->Execute("print('b' * 1000000)\n'c' * 1000000", 0, seconds(20), {});
  EXPECT_EQ(outcome->standard_output.size(), 1000001u);
  EXPECT_EQ(outcome->value->size(), 1000002u);
}

TEST_P(PythonWorkerTest, WhatCodeLeavesRunningIsStoppedBetweenItsCalls) {
  PythonWorkerOptions options;
  options.keep_state = true;
  const auto worker = Start(options);
  const auto begun = worker->Execute(R"(
import threading
beats = 0
def burn():
    global beats
    while True: beats += 1
threading.Thread(target=burn, daemon=True).start())",
                                     0, seconds(20), {});
  ASSERT_TRUE(begun.ok());
  ASSERT_EQ(begun->ended, "");
  const auto state = [&] { return ProcessTree(worker->pid()).back().state; };
  for (int i = 0; i < 100000 && state() != 'T'; ++i) {  // it stops at its next turn
  }
  EXPECT_EQ(state(), 'T');
  const auto then =
      worker->Execute("before = beats\nwhile beats == before: pass\n'on'", 0, seconds(20), {});
  ASSERT_TRUE(then.ok());
  EXPECT_EQ(then->value, "'on'") << then->ended;
}

// As kill -9 of a training would.
TEST_P(PythonWorkerTest, NothingOutlivesUs) {
  HONE_NEED_COUNTED_PROCESSES();
  SandboxOptions options;
  options.isolation = method();
  options.max_processes = 4;
  const Sandbox sandbox = Sandbox::New(options).value();
  const std::string mark = fmt::format("{}0000001", ::getpid());
  const pid_t child = ::fork();
  if (child == 0) {
    const auto worker = PythonWorker::Start(sandbox, {});
    const std::string code =
        fmt::format("import subprocess\nsubprocess.Popen(['/bin/sleep', '{}'])\n1", mark);
    const bool begun = worker.ok() && (*worker)->Execute(code, 0, seconds(20), {})->value == "1";
    if (begun) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the program was not begun";
  EXPECT_TRUE(NoProcessWith(mark));
}

TEST_P(PythonWorkerTest, AnInterpreterThatIsNoPythonSaysWhatItSaid) {
  PythonWorkerOptions options;
  options.python = "/bin/cat";
  const auto worker = PythonWorker::Start(NewSandbox(), options);
  ASSERT_FALSE(worker.ok());
  EXPECT_NE(worker.error().message().find("/bin/cat does not start in the sandbox"),
            std::string::npos)
      << worker.error().message();
}

}  // namespace
}  // namespace hone
