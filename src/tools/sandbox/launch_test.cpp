#include "tools/sandbox/launch.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "tools/sandbox/ordinary_user.h"

namespace hone {
namespace {

// Runs a shell script with its output in a pipe; gives the output and, after it, the exit status.
std::string Said(LaunchOptions launch, const std::string& script) {
  std::array<int, 2> ends{};
  CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  launch.command = {"/bin/sh", "-c", script};
  launch.descriptors = {nothing.get(), in.get(), in.get()};
  const pid_t pid = Launch(launch).value();
  in.Close();
  std::string said;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; (count = ::read(out.get(), buffer.data(), buffer.size())) > 0;) {
    said.append(buffer.data(), static_cast<size_t>(count));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return said + "=" + std::to_string(status);
}

TEST(Launch, GivesTheProgramItsEnvironmentDirectoryAndLimits) {
  LaunchOptions launch;
  launch.environment = {"A=b"};
  launch.directory = "/usr";
  launch.limits = {{RLIMIT_NOFILE, 77}, {RLIMIT_CORE, 0}};
  EXPECT_EQ(Said(launch, "echo $A; pwd; ulimit -n; ulimit -c"), "b\n/usr\n77\n0\n=0");
}

TEST(Launch, HandsOverNoOtherDescriptor) {
  const Descriptor leaked(::open("/dev/null", O_RDWR));  // without O_CLOEXEC
  EXPECT_EQ(Said({},
                 "for f in /proc/self/fd/*; do n=${f##*/}; [ $n -gt 2 ] && "
                 "[ \"$(readlink $f)\" = /dev/null ] && echo leaked; done; echo done"),
            "done\n=0");
}

TEST(Launch, TheProgramCanGainNoRights) {
  const std::string said = Said(
      {}, "grep -E '^(NoNewPrivs|CapEff|CapPrm|CapInh|CapAmb)' /proc/self/status | tr -d '\\t'");
  EXPECT_EQ(said,
            "CapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:0000000000000000\n"
            "CapAmb:0000000000000000\nNoNewPrivs:1\n=0");
}

TEST(Launch, LeadsASessionAndAGroupOfItsOwnWithSignalsAsTheyWereAtTheBeginning) {
  std::signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(Said({}, "set -- $(cat /proc/$$/stat); [ $5 = $$ ] && [ $6 = $$ ] && echo leads"),
            "leads\n=0");
  EXPECT_EQ(Said({}, "kill -USR1 $$; echo alive"), "=" + std::to_string(SIGUSR1));
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(Launch, AFailureNamesTheStepAndLeavesNoProcess) {
  LaunchOptions launch;
  launch.command = {"/usr/bin/no-such-program"};
  auto launched = Launch(launch);
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(launched.error().message().find("executing it"), std::string::npos);
  launch.command = {"/bin/true"};
  launch.directory = "/no/such/folder";
  launched = Launch(launch);
  ASSERT_FALSE(launched.ok());
  EXPECT_NE(launched.error().message().find("entering its directory"), std::string::npos);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Launch, ItDiesWithTheThreadThatStartedIt) {
  pid_t pid = 0;
  std::thread([&pid] {
    LaunchOptions launch;
    launch.command = {"/bin/sleep", "1000"};
    pid = Launch(launch).value();
  }).join();
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(Launch, WeStayDumpable) {
  const int before = ::prctl(PR_GET_DUMPABLE);
  LaunchOptions launch;
  launch.identity = OrdinaryUser();
  Said(launch, "true");
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE), before);
}

TEST(Launch, RootBecomesAnOrdinaryUser) {
  if (!OrdinaryUser()) GTEST_SKIP() << "not root, or there is nobody to become";
  LaunchOptions launch;
  launch.identity = LaunchOptions::Identity{65534, 65533};
  EXPECT_EQ(Said(launch, "id -u; id -g; id -G"), "65534\n65533\n65533\n=0");
}

}  // namespace
}  // namespace hone
