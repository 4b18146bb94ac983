#include "base/subprocess.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result<SubprocessResult> Shell(const std::string& script, std::string_view input = "",
                               milliseconds deadline = seconds(20)) {
  return RunSubprocess({"sh", "-c", script}, input, deadline);
}

bool HasNoChildren() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

// True when the process does not exist, or is a zombie that someone else (init) has yet to reap.
bool IsGone(pid_t pid) {
  for (int i = 0; i < 500; ++i) {
    if (::kill(pid, 0) != 0) return true;
    std::string stat =
        Shell("cut -d' ' -f3 /proc/" + std::to_string(pid) + "/stat")->standard_output;
    if (stat.empty() || stat[0] == 'Z') return true;
    ::usleep(10000);
  }
  return false;
}

TEST(Subprocess, GivesOutputErrorAndExitCode) {
  auto result = Shell("cat; echo oops >&2; exit 3", "hello");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->standard_output, "hello");
  EXPECT_EQ(result->standard_error, "oops\n");
  EXPECT_EQ(result->exit_code, 3);
}

TEST(Subprocess, LargeInputAndOutputDoNotDeadlock) {
  const std::string input(3 << 20, 'x');
  auto result = Shell("cat", input);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->standard_output, input);
}

TEST(Subprocess, AProgramThatDoesNotReadItsInputIsNoProblem) {
  auto result = Shell("exit 0", std::string(1 << 20, 'x'));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 0);
}

TEST(Subprocess, ADeadlineKillsTheWholeGroupAndLeavesNoZombie) {
  auto result =
      RunSubprocess({"sh", "-c", "sleep 1000 & echo $! >&2; sleep 1000"}, "", milliseconds(300));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kDeadline);
  EXPECT_TRUE(HasNoChildren());
}

TEST(Subprocess, ABackgroundProcessIsKilledWithItsParent) {
  // The child closes its pipes, so the run ends by itself; its group must still be cleaned up.
  auto result = Shell("sleep 1000 >/dev/null 2>&1 & echo $!");
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(IsGone(std::stoi(result->standard_output)));
  EXPECT_TRUE(HasNoChildren());
}

TEST(Subprocess, AProcessLeftInTheBackgroundDoesNotHoldTheRunUp) {
  // It keeps the pipes open, so the end of the output would never come.
  auto result = Shell("sleep 1000 & echo said", "", seconds(60));
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(result->standard_output, "said\n");
  EXPECT_TRUE(HasNoChildren());
}

TEST(Subprocess, AStopEndsTheRun) {
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  auto result = RunSubprocess({"sleep", "1000"}, "", seconds(1000), {}, stop.get_token());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kStopped);
}

TEST(Subprocess, EndlessOutputIsCutOff) {
  SubprocessOptions options;
  options.max_output_bytes = 100000;
  auto result = RunSubprocess({"yes"}, "", seconds(20), options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kFull);
  EXPECT_TRUE(HasNoChildren());
}

TEST(Subprocess, AMissingProgramIsAnError) {
  auto result = RunSubprocess({"no-such-program-anywhere"}, "", seconds(1));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kNotFound);
}

TEST(Subprocess, AMissingDirectoryIsAnErrorAndLeavesNoZombie) {
  SubprocessOptions options;
  options.directory = "/no/such/directory";
  auto result = RunSubprocess({"/bin/true"}, "", seconds(1), options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Subprocess, DeathBySignalIsTheSignalPlus128) {
  EXPECT_EQ(Shell("kill -TERM $$")->exit_code, 128 + SIGTERM);
}

TEST(Subprocess, EnvironmentAndDirectoryAreTheOnesGiven) {
  SubprocessOptions options;
  options.environment = {"WHO=hone"};
  options.directory = "/";
  auto result = RunSubprocess({"/bin/sh", "-c", "echo $WHO in $(pwd)"}, "", seconds(20), options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->standard_output, "hone in /\n");
}

TEST(Subprocess, AConversationGoesLineByLine) {
  auto process = Subprocess::Start({"sh", "-c", "while read x; do echo got $x; done; echo -n end"});
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE((*process)->Write("one\ntwo\n", seconds(20)).ok());
  EXPECT_EQ(*(*process)->ReadLine(seconds(20)), "got one");
  EXPECT_EQ(*(*process)->ReadLine(seconds(20)), "got two");
  EXPECT_EQ((*process)->ReadLine(milliseconds(30)).error().code(), ErrorCode::kDeadline);
  (*process)->CloseInput();
  EXPECT_EQ(*(*process)->ReadLine(seconds(20)), "end");
  EXPECT_EQ((*process)->ReadLine(seconds(20)).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(*(*process)->Wait(seconds(20)), 0);
}

TEST(Subprocess, TheEndOfItsErrorsIsKept) {
  SubprocessOptions options;
  options.keep_error_bytes = 6;
  // More than a pipe holds, so it ends only if somebody reads it.
  auto process = Subprocess::Start(
      {"sh", "-c", "head -c 300000 /dev/zero >&2; echo last >&2; echo done; exit 3"}, options);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(*(*process)->ReadLine(seconds(20)), "done");
  EXPECT_EQ(*(*process)->Wait(seconds(20)), 3);
  EXPECT_EQ((*process)->LastErrors(), std::string("\0last\n", 6));
}

TEST(Subprocess, OneThreadWritesWhileAnotherReads) {
  auto process = Subprocess::Start({"cat"});
  ASSERT_TRUE(process.ok());
  const std::string line(100000, 'x');
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE((*process)->Write(line + "\n", seconds(20)).ok());
    (*process)->CloseInput();
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(*(*process)->ReadLine(seconds(20)), line);
  EXPECT_EQ((*process)->ReadLine(seconds(20)).error().code(), ErrorCode::kUnavailable);
}

TEST(Subprocess, AProgramInheritsNothingThatWeInherited) {
  const int ours = ::open("/dev/null", O_RDONLY);  // stays open in programs, unless they close it
  ASSERT_GT(ours, 2);
  const auto listed = RunSubprocess({"ls", "/proc/self/fd"}, "", seconds(20));
  ::close(ours);
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->standard_output, "0\n1\n2\n3\n") << "3 is the folder that ls reads";
}

TEST(Subprocess, AProgramThatIgnoresTheEndOfItsInputEndsWithUs) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto process = Subprocess::Start({"sleep", "1000"});
    const pid_t pid = process.ok() ? (*process)->pid() : 0;
    (void)!::write(ends[1], &pid, sizeof pid);
    ::raise(SIGKILL);
  }
  pid_t program = 0;
  ASSERT_EQ(::read(ends[0], &program, sizeof program), static_cast<ssize_t>(sizeof program));
  ASSERT_GT(program, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(IsGone(program));
  ::close(ends[0]);
  ::close(ends[1]);
}

// The kernel would kill it together with the thread that started it.
TEST(Subprocess, AProgramOutlivesTheThreadThatAskedForIt) {
  Result<std::unique_ptr<Subprocess>> process = Error(ErrorCode::kInvalidArgument, "");
  std::thread([&] { process = Subprocess::Start({"cat"}); }).join();
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE((*process)->Write("still here\n", seconds(20)).ok());
  EXPECT_EQ(*(*process)->ReadLine(seconds(20)), "still here");
}

TEST(Subprocess, DroppingAConversationReapsTheProgram) {
  pid_t pid = 0;
  {
    auto process = Subprocess::Start({"sleep", "1000"});
    ASSERT_TRUE(process.ok());
    pid = (*process)->pid();
    EXPECT_EQ((*process)->Wait(milliseconds(30)).error().code(), ErrorCode::kDeadline);
  }
  EXPECT_TRUE(HasNoChildren());
  EXPECT_TRUE(IsGone(pid));
}

}  // namespace
}  // namespace hone
