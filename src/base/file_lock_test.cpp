#include "base/file_lock.h"

#include <gtest/gtest.h>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(FileLock, OneHasItUntilItGoes) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "new" / "lock";
  {
    const auto one = FileLock::Try(file);
    ASSERT_TRUE(one.ok()) << one.error().message();
    EXPECT_TRUE(one->has_value());
    EXPECT_FALSE(FileLock::Try(file)->has_value());
    EXPECT_TRUE(FileLock::Try(directory.path() / "other")->has_value());
  }
  EXPECT_TRUE(FileLock::Try(file)->has_value());
}

TEST(FileLock, AWaitIsToldOnceAndCanBeStopped) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "lock";
  const auto held = FileLock::Try(file);
  ASSERT_TRUE(held.ok() && held->has_value());
  int asked = 0, told = 0;
  const auto stopped = FileLock::Take(
      file, [&] { return ++asked == 4; }, [&] { ++told; });
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(told, 1);
}

TEST(FileLock, IsFreeWhenItsProcessIsKilled) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "lock";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = FileLock::Take(file);
    const char word = held.ok() ? 'y' : 'n';
    if (::write(ready[1], &word, 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  EXPECT_FALSE(FileLock::Try(file)->has_value());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::Take(file).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FileLock, AFileThatCannotBeWrittenIsNamed) {
  const auto lock = FileLock::Try("/proc/nowhere/lock");
  ASSERT_FALSE(lock.ok());
  EXPECT_NE(lock.error().message().find("/proc/nowhere/lock"), std::string::npos);
}

}  // namespace
}  // namespace hone
