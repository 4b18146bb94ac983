#include "text/normalize.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Normalize, ComposesAndKeepsWhatHasNoComposition) {
  EXPECT_EQ(ToNfc("plain"), "plain");
  EXPECT_EQ(ToNfc("e\u0301"), "\u00e9");
  EXPECT_EQ(ToNfc("\u212b"), "\u00c5") << "the angstrom sign is a singleton";
  EXPECT_EQ(ToNfc("\ufb01"), "\ufb01") << "compatibility characters are left alone";
  EXPECT_EQ(ToNfc(std::string("a\0e\u0301", 5)), std::string("a\0\u00e9", 4));
}

}  // namespace
}  // namespace hone
