#include "base/fetch/inside_path.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(InsidePath, StaysBelowItsFolder) {
  for (const char* path : {"a", "a/b", ".a", "a..", "a/...", "a//b", "\xc3\xa4", "a b%"}) {
    EXPECT_TRUE(StaysInside(path)) << path;
  }
  for (const char* path : {"", "/a", "..", "../a", "a/..", "a/../../b", "a\\b", "a\nb",
                           "a\x7f"
                           "b",
                           "a\x01"}) {
    EXPECT_FALSE(StaysInside(path)) << path;
  }
}

}  // namespace
}  // namespace hone
