#include "tools/sandbox/sandbox.h"

#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>

#include "support/confinement.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

class SandboxTest : public ConfinementTest {
 protected:
  SandboxOptions Options() const {
    SandboxOptions options;
    options.isolation = method();
    return options;
  }
  static Result<SubprocessResult> Shell(const SandboxOptions& options, const std::string& script,
                                        milliseconds deadline = milliseconds(20000)) {
    ConfinedRun run;
    run.command = {"/bin/sh", "-c", script};
    run.deadline = deadline;
    return RunConfined(Sandbox::New(options).value(), run);
  }
};
HONE_UNDER_EVERY_METHOD(SandboxTest);

TEST_P(SandboxTest, AProgramReadsItsInputAndItsFilesAndWritesToItsFolder) {
  ConfinedRun run;
  run.command = {"/bin/sh", "-c",
                 "read a; read b < tests/expected; echo $a $b > made; read c < made; echo $c; "
                 "echo hm >&2; exit 3"};
  run.input = "one\n";
  run.files = {{"tests/expected", "two\n"}};
  const auto result = RunConfined(Sandbox::New(Options()).value(), run);
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(result->standard_output, "one two\n");
  EXPECT_EQ(result->standard_error, "hm\n");
  EXPECT_EQ(result->exit_code, 3);
}

TEST_P(SandboxTest, AFileOutsideTheFolderIsRefused) {
  ConfinedRun run;
  run.command = {"/bin/true"};
  for (const char* name : {"../x", "/x", "a/../../x", ""}) {
    run.files = {{name, "content"}};
    EXPECT_FALSE(RunConfined(Sandbox::New(Options()).value(), run).ok()) << name;
  }
}

TEST_P(SandboxTest, AProgramHasNothingOfOurEnvironmentAndDescriptors) {
  ::setenv("HONE_TEST_SECRET", "hush", 1);
  const auto result = Shell(Options(), "set; echo x >&3 || echo x >&4 || echo x >&5");
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(result->standard_output.find("hush"), std::string::npos) << result->standard_output;
  EXPECT_NE(result->exit_code, 0);
}

TEST_P(SandboxTest, AProgramThatMayStartNoneStartsNone) {
  const auto result = Shell(Options(), "/bin/true; echo here");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->standard_output, "");
}

TEST_P(SandboxTest, AForkBombEndsWithTheProgram) {
  HONE_NEED_COUNTED_PROCESSES();
  SandboxOptions options = Options();
  options.max_processes = 20;
  const std::string mark = fmt::format("{}0000000", ::getpid());
  // Every shell that can be started starts two; each stays for a while.
  const auto result =
      Shell(options, fmt::format("bomb() {{ sleep {} & bomb & bomb; }}; bomb 2>/dev/null", mark),
            milliseconds(1500));
  EXPECT_FALSE(result.ok() && result->exit_code == 0);
  EXPECT_TRUE(NoProcessWith(mark));
  EXPECT_TRUE(Shell(Options(), "echo fine").ok());
}

TEST_P(SandboxTest, TheNumberOfProcessesIsBounded) {
  HONE_NEED_COUNTED_PROCESSES();
  SandboxOptions options = Options();
  options.max_processes = 4;
  const auto few = Shell(options, "sleep 0.1 & sleep 0.1 & sleep 0.1 & wait; echo fine");
  ASSERT_TRUE(few.ok()) << few.error().message();
  EXPECT_EQ(few->standard_output, "fine\n");
  const auto many =
      Shell(options, "for i in 1 2 3 4 5 6; do sleep 1000 & done; wait", milliseconds(20000));
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().code(), ErrorCode::kFull);
  EXPECT_NE(many.error().message().find("more than 4 processes at once"), std::string::npos)
      << many.error().message();
}

TEST_P(SandboxTest, TheMemoryOfAllProcessesTogetherIsBounded) {
  HONE_NEED_COUNTED_PROCESSES();
  SandboxOptions options = Options();
  options.max_processes = 4;
  options.memory_mb = 200;
  ConfinedRun run;
  run.deadline = milliseconds(20000);
  const auto python = [&](const char* code) {
    run.command = {"/usr/bin/python3", "-c", code};
    return RunConfined(Sandbox::New(options).value(), run);
  };
  const auto shared = python(R"(
import os, time
x = bytearray(100 << 20)
for i in range(2): os.fork() or (time.sleep(0.2), os._exit(0))
os.wait(), os.wait()
print('fine'))");
  ASSERT_TRUE(shared.ok()) << shared.error().message();
  EXPECT_EQ(shared->standard_output, "fine\n") << shared->standard_error;
  const auto apart = python(R"(
import os, time
for i in range(3): os.fork() or (bytearray(b'x') * (100 << 20), time.sleep(100))
x = b'x' * (100 << 20)
time.sleep(100))");
  ASSERT_FALSE(apart.ok());
  EXPECT_NE(apart.error().message().find("more than 200 MB of memory"), std::string::npos)
      << apart.error().message();
}

TEST_P(SandboxTest, FilesWithoutANameCountToo) {
  SandboxOptions options = Options();
  options.scratch_mb = 8;
  for (const char* hold :
       {"kept.append(f)", "kept.append(mmap.mmap(f.fileno(), 4096)); f.close()"}) {
    ConfinedRun run;
    run.command = {"/usr/bin/python3", "-c", std::string(R"(
import mmap, os, time
kept = []
for i in range(100):
    f = open('x', 'w+b')
    os.unlink('x')
    try: os.posix_fallocate(f.fileno(), 0, 4 << 20)
    except OSError: f.write(bytes(4 << 20)); f.flush()
    time.sleep(0.02)
    )") + hold + "\nprint('all')"};
    run.deadline = milliseconds(20000);
    const auto result = RunConfined(Sandbox::New(options).value(), run);
    ASSERT_FALSE(result.ok()) << result->standard_output << result->standard_error;
    EXPECT_EQ(result.error().code(), ErrorCode::kFull) << result.error().message();
  }
}

TEST_P(SandboxTest, AProgramWhoseFirstThreadHasEndedIsStillBounded) {
  HONE_NEED_COUNTED_PROCESSES();
  SandboxOptions options = Options();
  options.scratch_mb = 8;
  for (const int processes : {1, 2}) {
    options.max_processes = processes;
    ConfinedRun run;
    run.command = {"/usr/bin/python3", "-c", R"(
import ctypes, os, threading, time
def fill():
    kept = []
    for i in range(100):
        kept.append(open('x', 'wb', buffering=0))
        os.unlink('x')
        kept[-1].write(bytes(4 << 20))
        time.sleep(0.02)
    print('all', flush=True)
threading.Thread(target=fill).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0))"};
    run.deadline = milliseconds(20000);
    const auto result = RunConfined(Sandbox::New(options).value(), run);
    ASSERT_FALSE(result.ok()) << result->standard_output << result->standard_error;
    EXPECT_EQ(result.error().code(), ErrorCode::kFull) << result.error().message();
  }
}

TEST_P(SandboxTest, ProcessesLeftBehindAreKilledEvenInASessionOfTheirOwn) {
  HONE_NEED_COUNTED_PROCESSES();
  SandboxOptions options = Options();
  options.max_processes = 10;
  const std::string mark = fmt::format("{}000000", ::getpid());
  const auto result = Shell(options, fmt::format("setsid sleep {0} & sleep {0} & sleep 0.1; "
                                                 "(setsid setsid nohup sleep {0} &) ; echo left",
                                                 mark));
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(result->standard_output, "left\n");
  EXPECT_TRUE(NoProcessWith(mark));
}

TEST_P(SandboxTest, ADeadlineAndAStopEndEverything) {
  HONE_NEED_COUNTED_PROCESSES();
  SandboxOptions options = Options();
  options.max_processes = 10;
  const std::string mark = fmt::format("{}00000", ::getpid());
  const std::string script = fmt::format("sleep {0} & exec sleep {0}", mark);
  const auto late = Shell(options, script, milliseconds(300));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code(), ErrorCode::kDeadline);
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  ConfinedRun run;
  run.command = {"/bin/sh", "-c", script};
  const auto stopped = RunConfined(Sandbox::New(options).value(), run, stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
  EXPECT_TRUE(NoProcessWith(mark));
}

TEST_P(SandboxTest, ProcessorTimeIsBounded) {
  SandboxOptions options = Options();
  options.cpu_seconds = 1;
  const auto result = Shell(options, "while :; do :; done");
  ASSERT_TRUE(result.ok()) << result.error().message();
  // The hard limit is the soft one, so the kernel's last word may be SIGKILL.
  EXPECT_TRUE(result->exit_code == 128 + SIGXCPU || result->exit_code == 128 + SIGKILL)
      << result->exit_code;
}

TEST_P(SandboxTest, MemoryIsBounded) {
  SandboxOptions options = Options();
  options.memory_mb = 100;
  const auto result = Shell(options, "x=a; while :; do x=$x$x; done");
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_NE(result->exit_code, 0);
}

TEST_P(SandboxTest, AFolderThatGrowsTooLargeEndsTheProgram) {
  SandboxOptions options = Options();
  options.scratch_mb = 1;
  const auto large =
      Shell(options, "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done > f");
  // Either the watcher saw it, or the size of any one file ended it.
  EXPECT_TRUE(!large.ok() || large->exit_code != 0);
  const auto many = Shell(options, "i=0; while :; do i=$((i+1)); echo x > f$i; done");
  ASSERT_FALSE(many.ok());
  EXPECT_EQ(many.error().code(), ErrorCode::kFull) << many.error().message();
}

TEST_P(SandboxTest, OutputIsBounded) {
  const auto result =
      Shell(Options(), "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kFull);
}

TEST_P(SandboxTest, AProgramThatIsNotThereIsAnErrorOrAnExitCode) {
  ConfinedRun run;
  run.command = {"/usr/bin/no-such-program"};
  const auto result = RunConfined(Sandbox::New(Options()).value(), run);
  EXPECT_FALSE(result.ok() && result->exit_code == 0);
}

TEST_P(SandboxTest, CanReadSaysWhatProgramsFindInside) {
  const Sandbox sandbox = Sandbox::New(Options()).value();
  EXPECT_TRUE(sandbox.CanRead("/bin/sh"));
  EXPECT_TRUE(sandbox.CanRead("/usr/bin/env"));
  EXPECT_FALSE(sandbox.CanRead("/usr/bin/no-such-program"));
  EXPECT_FALSE(sandbox.CanRead("/etc/passwd"));
  EXPECT_FALSE(sandbox.CanRead("/usr/../etc/passwd"));
  EXPECT_FALSE(sandbox.CanRead("bin/sh"));
}

TEST_P(SandboxTest, FurtherFoldersCanBeMadeReadable) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "data", "42\n").ok());
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder.path() / "data", std::filesystem::perms(0644));
  const std::string script = fmt::format("read x < {}/data && echo $x", folder.path().string());
  EXPECT_EQ(Shell(Options(), script)->standard_output, "");
  SandboxOptions options = Options();
  options.readable = {folder.path().string()};
  const auto result = Shell(options, script);
  EXPECT_EQ(result->standard_output, "42\n") << result->standard_error;
}

TEST(Sandbox, AnUnknownIsolationIsRefusedByName) {
  SandboxOptions options;
  options.isolation = "none";
  const auto sandbox = Sandbox::New(options);
  ASSERT_FALSE(sandbox.ok());
  EXPECT_NE(sandbox.error().message().find("none-i-trust-the-code"), std::string::npos);
}

TEST(Sandbox, AutoTakesWhatTheProbeFoundAndTheEnvironmentMayChoose) {
  const SandboxProbe probe = ProbeSandbox();
  ::unsetenv("HONE_SANDBOX");
  const auto automatic = Sandbox::New({});
  ASSERT_EQ(automatic.ok(), probe.best().has_value());
  if (automatic.ok()) {
    EXPECT_EQ(automatic->method(), *probe.best());
  } else {
    EXPECT_NE(automatic.error().message().find("none-i-trust-the-code"), std::string::npos);
  }
  ::setenv("HONE_SANDBOX", "landlock", 1);
  const auto forced = Sandbox::New({});
  EXPECT_EQ(forced.ok(), probe.landlock_problem.empty());
  if (forced.ok()) {
    EXPECT_EQ(forced->method(), SandboxMethod::kLandlock);
  }
  ::unsetenv("HONE_SANDBOX");
}

TEST(Sandbox, TheBestOfAProbeIsBubblewrapThenLandlockThenNothing) {
  EXPECT_EQ((SandboxProbe{"", "", 7}.best()), SandboxMethod::kBubblewrap);
  EXPECT_EQ((SandboxProbe{"no", "", 7}.best()), SandboxMethod::kLandlock);
  EXPECT_EQ((SandboxProbe{"no", "no", 0}.best()), std::nullopt);
}

TEST(Sandbox, FilesThatOnlyOneThreadHasOpenCountToo) {
  SandboxOptions options;
  options.isolation = "none-i-trust-the-code";
  options.scratch_mb = 8;
  ConfinedRun run;
  run.command = {"/usr/bin/python3", "-c", R"(
import ctypes, os, threading, time
def fill():
    assert ctypes.CDLL(None).unshare(0x400) == 0  # CLONE_FILES
    kept = []
    for i in range(100):
        kept.append(open('x', 'wb', buffering=0))
        os.unlink('x')
        kept[-1].write(bytes(4 << 20))
        time.sleep(0.02)
    print('all')
threading.Thread(target=fill).start())"};
  run.deadline = milliseconds(20000);
  const auto result = RunConfined(Sandbox::New(options).value(), run);
  ASSERT_FALSE(result.ok()) << result->standard_output << result->standard_error;
  EXPECT_EQ(result.error().code(), ErrorCode::kFull) << result.error().message();
}

TEST(Sandbox, TrustedCodeRunsWithLimitsOnly) {
  SandboxOptions options;
  options.isolation = "none-i-trust-the-code";
  options.max_processes = 100;
  ConfinedRun run;
  run.command = {"/bin/sh", "-c", "echo $(echo inner); ulimit -c"};
  const auto result = RunConfined(Sandbox::New(options).value(), run);
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(result->standard_output, "inner\n0\n");
}

}  // namespace
}  // namespace hone
