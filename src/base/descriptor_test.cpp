#include "base/descriptor.h"

#include <gtest/gtest.h>

#include <fcntl.h>

namespace hone {
namespace {

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(Descriptor, IsClosedOnceByItsLastOwner) {
  const int fd = ::open("/dev/null", O_RDONLY);
  {
    Descriptor first(fd);
    EXPECT_TRUE(first.ok());
    Descriptor second(std::move(first));
    EXPECT_FALSE(first.ok());  // NOLINT: looked at on purpose
    EXPECT_EQ(second.get(), fd);
    Descriptor third;
    third = std::move(second);
    EXPECT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(Descriptor, TakingAnotherClosesTheOld) {
  Descriptor one(::open("/dev/null", O_RDONLY));
  const int fd = one.get();
  one = Descriptor(::open("/dev/null", O_RDONLY));
  EXPECT_TRUE(one.ok());
  EXPECT_NE(one.get(), fd);
  EXPECT_FALSE(IsOpen(fd));
  one.Close();
  one.Close();
  EXPECT_FALSE(one.ok());
}

}  // namespace
}  // namespace hone
