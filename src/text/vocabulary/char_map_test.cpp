#include "text/vocabulary/char_map.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(CharMap, ATableThatIsCutShortIsRefused) {
  EXPECT_FALSE(CharMap::FromBytes("").ok());
  EXPECT_FALSE(CharMap::FromBytes(std::string("\x10\x00\x00\x00xx", 6)).ok());
  EXPECT_FALSE(CharMap::FromBase64("not base64!").ok());
}

TEST(CharMap, ATableThatPointsOutsideOfItselfChangesNothing) {
  // One unit whose children would lie far behind the end.
  const auto map = CharMap::FromBytes(std::string("\x04\x00\x00\x00\x00\xFC\xFF\x7F", 8));
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->Apply("aé語\r\n"), "aé語\r\n");
}

TEST(CharMap, Base64IsReadWithAndWithoutPadding) {
  EXPECT_EQ(FromBase64("aG9uZQ=="), "hone");
  EXPECT_EQ(FromBase64("aG9uZQ"), "hone");
  EXPECT_EQ(FromBase64("a*"), std::nullopt);
}

}  // namespace
}  // namespace hone
