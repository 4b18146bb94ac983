#include "base/fetch/hash_list.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(HashList, LinesOfSha256sumAreReadAndOthersRefused) {
  const std::string hash(64, 'a');
  const auto list = ParseHashList(hash + "  x.json\n" + hash + " *./sub/y\r\n\n");
  ASSERT_TRUE(list.ok()) << list.error().message();
  EXPECT_EQ((*list)[0].first, "x.json");
  EXPECT_EQ((*list)[1].first, "sub/y");
  for (const std::string& bad :
       {hash + "  ../x", hash + "  /x", hash + "  a/../../x", hash + "  a\x7f", hash + " x",
        std::string("word"), hash.substr(1) + "   x", hash + "  ", std::string(64, 'g') + "  x"}) {
    const auto read = ParseHashList("\n" + bad);
    ASSERT_FALSE(read.ok()) << bad;
    EXPECT_NE(read.error().message().find("line 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace hone
