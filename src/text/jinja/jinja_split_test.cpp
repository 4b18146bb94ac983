#include "text/jinja/jinja_split.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<std::string> Parts(std::string_view text, const std::vector<ByteRange>& ranges) {
  std::vector<std::string> parts;
  for (const ByteRange& range : ranges) {
    parts.emplace_back(text.substr(range.begin, range.end - range.begin));
  }
  return parts;
}

using Texts = std::vector<std::string>;

TEST(JinjaSplit, CutsAtASeparatorOrAtWhiteSpace) {
  EXPECT_EQ(Parts("a,b,,c", SplitText("a,b,,c", ",", -1)), (Texts{"a", "b", "", "c"}));
  EXPECT_EQ(Parts("a,b,c", SplitText("a,b,c", ",", 1)), (Texts{"a", "b,c"}));
  EXPECT_EQ(Parts("a,b,c", SplitTextFromEnd("a,b,c", ",", 1)), (Texts{"a,b", "c"}));
  EXPECT_EQ(Parts(" a  b c ", SplitText(" a  b c ", std::nullopt, 1)), (Texts{"a", "b c "}));
  EXPECT_EQ(Parts(" a b  c", SplitTextFromEnd(" a b  c", std::nullopt, 1)), (Texts{" a b", "c"}));
  EXPECT_TRUE(SplitText("  ", std::nullopt, -1).empty());
}

TEST(JinjaSplit, FindsLinesOfEveryKind) {
  const std::string text = "a\r\nb\n\nc\u2028d";
  EXPECT_EQ(Parts(text, SplitLines(text, false)), (Texts{"a", "b", "", "c", "d"}));
  EXPECT_EQ(Parts("a\nb\n", SplitLines("a\nb\n", true)), (Texts{"a\n", "b\n"}));
}

TEST(JinjaSplit, FindsNothingEverywhere) {
  EXPECT_EQ(FindAll("aé", "", -1).size(), 3u);
  EXPECT_EQ(FindAll("aaa", "aa", -1).size(), 1u);
  EXPECT_EQ(FindAll("aaa", "a", 2).size(), 2u);
}

}  // namespace
}  // namespace hone
