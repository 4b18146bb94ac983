#include "tools/sandbox/landlock.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"

namespace hone {
namespace {

// Runs `attempt` in a child under the rules; gives 0 when it worked, else its errno.
template <typename Attempt>
int Under(const LandlockRules& rules, Attempt attempt) {
  const auto ruleset = NewLandlockRuleset(rules);
  CHECK(ruleset.ok(), ruleset.error().message());
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (::syscall(SYS_landlock_restrict_self, ruleset->get(), 0) != 0) ::_exit(255);
    ::_exit(attempt() ? 0 : errno);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int OpenUnder(const LandlockRules& rules, const std::filesystem::path& path, int flags) {
  return Under(rules, [&] { return ::open(path.c_str(), flags, 0600) >= 0; });
}

class LandlockTest : public testing::Test {
 protected:
  void SetUp() override {
    if (LandlockVersion() == 0) GTEST_SKIP() << "this kernel has no Landlock";
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "read" / "file", "x").ok());
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "write" / "file", "x").ok());
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / "other", "x").ok());
    rules_.readable = {folder_.path() / "read", "/no/such/path"};
    rules_.writable = {folder_.path() / "write"};
    rules_.devices = {"/dev/null"};
  }
  TemporaryDirectory folder_;
  LandlockRules rules_;
};

TEST_F(LandlockTest, FilesAreWhatTheRulesSay) {
  const auto& at = folder_.path();
  EXPECT_EQ(OpenUnder(rules_, at / "read/file", O_RDONLY), 0);
  EXPECT_EQ(OpenUnder(rules_, at / "read/file", O_WRONLY), EACCES);
  EXPECT_EQ(OpenUnder(rules_, at / "read/new", O_CREAT | O_WRONLY), EACCES);
  EXPECT_EQ(OpenUnder(rules_, at / "write/file", O_RDWR | O_TRUNC), 0);
  EXPECT_EQ(OpenUnder(rules_, at / "write/new", O_CREAT | O_WRONLY), 0);
  EXPECT_EQ(OpenUnder(rules_, at / "other", O_RDONLY), EACCES);
  EXPECT_EQ(OpenUnder(rules_, at, O_RDONLY | O_DIRECTORY), EACCES);
  EXPECT_EQ(OpenUnder(rules_, "/dev/null", O_RDWR), 0);
  EXPECT_EQ(OpenUnder(rules_, "/dev/zero", O_RDONLY), EACCES);
}

TEST_F(LandlockTest, NothingIsMovedOutOrIn) {
  const auto& at = folder_.path();
  const std::string inside = at / "write/file", out = at / "taken", other = at / "other",
                    in = at / "write/other";
  EXPECT_NE(Under(rules_, [&] { return ::rename(inside.c_str(), out.c_str()) == 0; }), 0);
  EXPECT_NE(Under(rules_, [&] { return ::rename(other.c_str(), in.c_str()) == 0; }), 0);
  EXPECT_NE(Under(rules_, [&] { return ::link(other.c_str(), in.c_str()) == 0; }), 0);
}

TEST_F(LandlockTest, ProcessesOutsideAreNotSignalledWhereTheKernelKnowsHow) {
  if (LandlockVersion() < kLandlockSignals) GTEST_SKIP() << "this kernel leaves it to seccomp";
  EXPECT_EQ(Under(rules_, [parent = ::getpid()] { return ::kill(parent, 0) == 0; }), EPERM);
}

TEST_F(LandlockTest, AFolderToWriteToMustBeThere) {
  rules_.writable = {"/no/such/folder"};
  EXPECT_FALSE(NewLandlockRuleset(rules_).ok());
}

}  // namespace
}  // namespace hone
