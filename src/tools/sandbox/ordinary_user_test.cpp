#include "tools/sandbox/ordinary_user.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include <unistd.h>

#include "tools/sandbox/scratch.h"

namespace hone {
namespace {

TEST(OrdinaryUser, IsForRootAlone) {
  const auto user = OrdinaryUser();
  if (::geteuid() != 0) {
    EXPECT_FALSE(user.has_value());
  } else if (user) {
    EXPECT_NE(user->user, 0u);
    EXPECT_TRUE(Scratch::New(user).ok());
  }
}

TEST(OrdinaryUser, ThreadsCountAsTasks) {
  // Others of this user come and go meanwhile, so many threads are counted, not one.
  const uint64_t before = TasksOf(::geteuid());
  ASSERT_GE(before, 1u);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 200; ++i) {
    threads.emplace_back([](const std::stop_token& stop) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait(lock, stop, [] { return false; });
    });
  }
  EXPECT_GE(TasksOf(::geteuid()), before + 100);
}

}  // namespace
}  // namespace hone
