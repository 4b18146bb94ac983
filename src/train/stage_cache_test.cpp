#include "train/stage_cache.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

TEST(StageCache, FindsWhatWasMadeFromTheSameThings) {
  const TemporaryDirectory directory;
  const StageCache cache(directory.path() / "cache");
  const Json inputs = Json::Of({{"seed", 1}, {"steps", 10}});
  EXPECT_EQ(cache.Find("sft", inputs), std::nullopt);
  const auto made = cache.Put("sft", inputs, [](const std::filesystem::path& folder) {
    return WriteFileAtomic(folder / "weights", "abc");
  });
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(cache.Find("sft", Json::Of({{"steps", 10}, {"seed", 1}})), *made) << "in any order";
  EXPECT_EQ(*ReadFile(*made / "weights"), "abc");
  EXPECT_EQ(cache.Find("sft", Json::Of({{"seed", 2}, {"steps", 10}})), std::nullopt);
  EXPECT_EQ(cache.Find("simulator", inputs), std::nullopt);
}

TEST(StageCache, ADamagedOutputIsAsGoodAsNoneAndIsMadeAgain) {
  const TemporaryDirectory directory;
  std::string notes;
  const StageCache cache(directory.path(), [&](std::string_view note) { notes += note; });
  const auto write = [](const std::filesystem::path& folder) {
    return WriteFileAtomic(folder / "weights", "abc");
  };
  const std::filesystem::path made = cache.Put("sft", Json(1), write).value();
  ASSERT_TRUE(WriteFileAtomic(made / "weights", "abb").ok());
  EXPECT_EQ(cache.Find("sft", Json(1)), std::nullopt);
  EXPECT_NE(notes.find("weights is damaged"), std::string::npos) << notes;
  ASSERT_TRUE(cache.Put("sft", Json(1), write).ok());
  EXPECT_EQ(cache.Find("sft", Json(1)), made);
  EXPECT_EQ(*ReadFile(made / "weights"), "abc");
}

TEST(StageCache, WhatCouldNotBeMadeIsNotThere) {
  const TemporaryDirectory directory;
  const StageCache cache(directory.path() / "cache");
  const auto made = cache.Put("sft", Json(1), [](const std::filesystem::path&) -> Result<void> {
    return Error(ErrorCode::kFull, "no space");
  });
  EXPECT_EQ(made.error().code(), ErrorCode::kFull);
  EXPECT_EQ(cache.Find("sft", Json(1)), std::nullopt);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path() / "cache"), {}), 0)
      << "nothing is left lying about";
}

TEST(StageCache, WhatAKilledProcessLeftBehindIsRemoved) {
  const TemporaryDirectory directory;
  const StageCache cache(directory.path());
  const auto write = [](const std::filesystem::path& folder) {
    return WriteFileAtomic(folder / "weights", "abc");
  };
  const std::filesystem::path path = cache.Put("sft", Json(1), write).value();
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const std::string left = path.string() + "." + std::to_string(dead);
  const std::string alive = path.string() + "." + std::to_string(::getppid());
  for (const std::string& folder : {left, left + ".writing", alive}) {
    std::filesystem::create_directories(folder);
  }
  ASSERT_TRUE(cache.Put("sft", Json(1), write).ok());
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_FALSE(std::filesystem::exists(left + ".writing"));
  EXPECT_TRUE(std::filesystem::exists(alive)) << "somebody is writing it";
  EXPECT_EQ(*ReadFile(path / "weights"), "abc");
}

// Runs the function in a process of its own.
pid_t Fork(const std::function<void()>& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    function();
    ::_exit(0);
  }
  return child;
}

TEST(StageCache, OfManyProcessesOneMakesItAndTheOthersFindIt) {
  const TemporaryDirectory directory;
  const std::filesystem::path log = directory.path() / "made";
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(Fork([&] {
      const StageCache cache(directory.path() / "cache");
      const auto lock = cache.LockOf("sft", Json(1));
      if (!lock.ok()) ::_exit(1);
      if (cache.Find("sft", Json(1))) ::_exit(0);
      const auto made = cache.Put("sft", Json(1), [&](const std::filesystem::path& folder) {
        std::ofstream(log, std::ios::app) << "once\n";
        return WriteFileAtomic(folder / "weights", "abc");
      });
      if (!made.ok()) ::_exit(2);
    }));
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(*ReadFile(log), "once\n");
  EXPECT_NE(StageCache(directory.path() / "cache").Find("sft", Json(1)), std::nullopt);
}

TEST(StageCache, TheLockOfAProcessThatDiedIsFreeAndAWaitCanBeStopped) {
  const TemporaryDirectory directory;
  const StageCache cache(directory.path() / "cache");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = Fork([&] {
    const auto lock = cache.LockOf("sft", Json(1));
    if (::write(ready[1], "x", 1) == 1) ::pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  int said = 0, asked = 0;
  const auto stopped = cache.LockOf(
      "sft", Json(1), [&] { return ++asked > 3; }, [&] { ++said; });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), ErrorCode::kStopped);
  EXPECT_EQ(said, 1);
  EXPECT_TRUE(cache.LockOf("simulator", Json(1)).ok()) << "each output has its own";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(cache.LockOf("sft", Json(1)).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(StageCache, AFolderThatCannotBeWrittenIsNamed) {
  const auto lock = StageCache("/proc/nowhere").LockOf("sft", Json(1));
  ASSERT_FALSE(lock.ok());
  EXPECT_NE(lock.error().message().find("run.cache="), std::string::npos);
}

}  // namespace
}  // namespace hone
