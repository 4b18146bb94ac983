#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tools/sandbox/launch.h"
#include "tools/sandbox/ordinary_user.h"
#include "tools/sandbox/sandbox.h"

// What tests of confinement share.

namespace hone {

// A test that runs under each method; those that do not hold here are passed over, saying why.
class ConfinementTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const SandboxProbe probe = ProbeSandbox();
    const std::string& problem =
        method() == "bubblewrap" ? probe.bubblewrap_problem : probe.landlock_problem;
    if (!problem.empty()) GTEST_SKIP() << method() << " does not hold here: " << problem;
  }
  std::string_view method() const { return GetParam(); }
};

#define HONE_UNDER_EVERY_METHOD(suite)                                                            \
  INSTANTIATE_TEST_SUITE_P(Under, suite, testing::Values("bubblewrap", "landlock"),               \
                           [](const testing::TestParamInfo<const char*>& method) -> std::string { \
                             return method.param;                                                 \
                           })

// For tests of how many processes or threads there may be.
#define HONE_NEED_COUNTED_PROCESSES()                                                    \
  if (::geteuid() == 0 && !OrdinaryUser()) {                                             \
    GTEST_SKIP() << "not run: we are root and cannot become anybody else here, and the " \
                    "kernel does not count the processes of root";                       \
  }

// Whether no process is left whose command line has `mark`. Killed ones may take a moment to go.
inline bool NoProcessWith(const std::string& mark) {
  auto any = [&mark] {
    std::error_code failed;
    for (std::filesystem::directory_iterator at("/proc", failed), end; !failed && at != end;
         at.increment(failed)) {
      const Result<std::string> line = ReadFile(at->path() / "cmdline");
      if (line.ok() && line->find(mark) != std::string::npos) return true;
    }
    return false;
  };
  for (int i = 0; i < 500; ++i) {
    if (!any()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A harmless process, not confined, that belongs to the user whom confined programs run as: what
// they would harm if they could.
class Victim {
 public:
  explicit Victim(const Sandbox& sandbox) {
    LaunchOptions launch;
    launch.command = {"/bin/sleep", "1000"};
    launch.environment = {"SECRET=of-the-victim"};
    launch.identity = sandbox.identity();
    pid_ = Launch(launch).value();
  }
  ~Victim() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  pid_t pid() const { return pid_; }
  bool lives() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_ = -1;
};

}  // namespace hone
