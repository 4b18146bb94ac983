#include "tools/sandbox/scratch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

TEST(Scratch, IsGoneWithAllItHoldsHoweverDeepOrClosed) {
  fs::path path;
  TemporaryDirectory outside;
  ASSERT_TRUE(WriteFileAtomic(outside.path() / "kept", "x").ok());
  {
    const auto scratch = Scratch::New(std::nullopt).value();
    path = scratch->path();
    ASSERT_TRUE(scratch->Write("a/b/file", "x").ok());
    fs::create_symlink(outside.path(), path / "link");
    fs::create_symlink(outside.path() / "kept", path / "a" / "link");
    // Deeper than a path can be written.
    int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY);
    const std::string name(100, 'd');
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(::mkdirat(folder, name.c_str(), 0700), 0);
      const int next = ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY);
      ::close(folder);
      folder = next;
    }
    ::close(folder);
    fs::permissions(path / "a" / "b", fs::perms(0));
    fs::permissions(path / "a", fs::perms(0));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(outside.path() / "kept"));
}

TEST(Scratch, FilesStayInside) {
  const auto scratch = Scratch::New(std::nullopt).value();
  EXPECT_TRUE(scratch->Write("a/../b", "x").ok());
  EXPECT_EQ(ReadFile(scratch->path() / "b").value(), "x");
  for (const char* name : {"", "/etc/x", "../x", "a/../../x", ".."}) {
    EXPECT_FALSE(scratch->Write(name, "x").ok()) << name;
  }
}

TEST(Scratch, KnowsWhenItHoldsTooMuch) {
  const auto scratch = Scratch::New(std::nullopt).value();
  EXPECT_FALSE(scratch->HoldsMoreThan(100000));
  ASSERT_TRUE(scratch->Write("a/b", std::string(200000, 'x')).ok());
  EXPECT_TRUE(scratch->HoldsMoreThan(100000));
  EXPECT_FALSE(scratch->HoldsMoreThan(1000000));
  // What a link points at is not held.
  fs::create_symlink("/usr", scratch->path() / "usr");
  EXPECT_FALSE(scratch->HoldsMoreThan(1000000));
  fs::path deep;
  for (int i = 0; i < 70; ++i) deep /= "d";
  fs::create_directories(scratch->path() / deep);
  EXPECT_TRUE(scratch->HoldsMoreThan(1000000));
}

TEST(Scratch, AFolderThatCannotBeLookedIntoIsTooMuch) {
  const bool root = ::geteuid() == 0;
  const auto owner = root ? std::optional(LaunchOptions::Identity{65534, 65534}) : std::nullopt;
  const auto scratch = Scratch::New(owner).value();
  // Root looks into every folder; this thread is somebody else's.
  std::thread([&] {
    if (root) ::syscall(SYS_setfsuid, 65534);
    EXPECT_FALSE(scratch->HoldsMoreThan(100000));
    ASSERT_EQ(::mkdir((scratch->path() / "hidden").c_str(), 0300), 0);
    EXPECT_TRUE(scratch->HoldsMoreThan(100000));
    ASSERT_EQ(::rmdir((scratch->path() / "hidden").c_str()), 0);
    ASSERT_EQ(::chmod(scratch->path().c_str(), 0300), 0);
    EXPECT_TRUE(scratch->HoldsMoreThan(100000));
    RemoveTree(scratch->path());
    EXPECT_FALSE(scratch->HoldsMoreThan(100000));
  }).join();
}

TEST(Scratch, IsRemovedEvenIfItWasClosedToItsOwnUser) {
  const bool root = ::geteuid() == 0;
  const TemporaryDirectory parent;
  if (root) {
    ASSERT_EQ(::chown(parent.path().c_str(), 65534, 65534), 0);
  }
  std::thread([&] {
    if (root) ::syscall(SYS_setfsuid, 65534);
    for (const mode_t mode : {0, 0300, 0400, 0500}) {
      for (const bool abandoned : {false, true}) {
        const fs::path path = parent.path() / "hone-sandbox-closed";
        ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
        ASSERT_EQ(::mkdir((path / "inner").c_str(), 0), 0);
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        abandoned ? RemoveAbandonedScratch(parent.path()) : RemoveTree(path);
        EXPECT_FALSE(fs::exists(path)) << mode << abandoned;
      }
    }
  }).join();
}

TEST(Scratch, FoldersThatNobodyUsesAnyMoreAreRemoved) {
  // Not in the folder of everybody: another process may be removing the abandoned one already.
  const TemporaryDirectory everything;
  const fs::path& parent = everything.path();
  ::setenv("TMPDIR", parent.c_str(), 1);
  const auto used = Scratch::New(std::nullopt).value();
  ::unsetenv("TMPDIR");
  ASSERT_EQ(used->path().parent_path(), parent);
  std::string left = (parent / "hone-sandbox-XXXXXX").string();
  ASSERT_NE(::mkdtemp(left.data()), nullptr);
  ASSERT_TRUE(WriteFileAtomic(fs::path(left) / "a", "x").ok());
  RemoveAbandonedScratch(parent);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(used->path()));
}

// Whoever removes what is abandoned and whoever makes a folder do not come into each other's way.
TEST(Scratch, CanBeMadeWhileOthersAreRemoved) {
  const fs::path parent = Scratch::New(std::nullopt).value()->path().parent_path();
  std::jthread remover([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) RemoveAbandonedScratch(parent);
  });
  for (int i = 0; i < 300; ++i) {
    const auto scratch = Scratch::New(std::nullopt).value();
    ASSERT_TRUE(scratch->Write("a", "x").ok()) << i;
  }
}

TEST(Scratch, BelongsToTheOneItIsFor) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  const auto scratch = Scratch::New(LaunchOptions::Identity{65534, 65534});
  if (!scratch.ok()) GTEST_SKIP() << scratch.error().message();
  ASSERT_TRUE((*scratch)->Write("a/b", "x").ok());
  for (const char* name : {"", "a", "a/b"}) {
    struct stat info {};
    ASSERT_EQ(::lstat(((*scratch)->path() / name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 65534u) << name;
  }
}

}  // namespace
}  // namespace hone
