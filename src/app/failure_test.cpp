#include "app/failure.h"

#include <gtest/gtest.h>

#include <new>
#include <system_error>
#include <thread>

#include "engine/device/device.h"

namespace hone {
namespace {

TEST(Failure, SaysWhatToDoWhereMemoryOrThreadsRunOut) {
  EXPECT_NE(FailureOf(std::bad_alloc()).message().find("ulimit -v"), std::string::npos);
  const std::system_error thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_NE(FailureOf(thread).message().find("run.threads=N"), std::string::npos);
  const DeviceError full(DeviceError::Kind::kFull, "the GPU's memory is full; compute less");
  EXPECT_EQ(FailureOf(full).message(), "the GPU's memory is full; compute less");
  EXPECT_EQ(FailureOf(full).code(), ErrorCode::kFull);
  EXPECT_EQ(FailureOf(std::runtime_error("something else")).message(), "something else");
}

TEST(FailureDeathTest, AThreadThatRunsOutOfMemoryEndsTheProgramInOrder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        EndInOrder();
        std::thread([] { throw std::bad_alloc(); }).join();
      },
      testing::ExitedWithCode(1), "hone: the memory does not suffice");
}

TEST(FailureDeathTest, AThreadThatLosesItsDeviceEndsTheProgramInOrder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        EndInOrder();
        std::thread([] {
          throw DeviceError(DeviceError::Kind::kLost, "the GPU has failed; start again");
        }).join();
      },
      testing::ExitedWithCode(1), "hone: the GPU has failed; start again");
}

}  // namespace
}  // namespace hone
