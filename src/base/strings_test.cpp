#include "base/strings.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Strings, TrimmingTakesBlanksFromTheEnds) {
  EXPECT_EQ(Trim(" \n a b\t "), "a b");
  EXPECT_EQ(Trim(" \n "), "");
  EXPECT_EQ(TrimLeft("\n\nx\n", "\n"), "x\n");
  EXPECT_EQ(TrimRight("x \n", "\n"), "x ");
}

TEST(Strings, APartialSuffixIsTheBeginningOfAWord) {
  EXPECT_EQ(PartialSuffix("abc <to", "<tool>"), 3u);
  EXPECT_EQ(PartialSuffix("<", "<tool>"), 1u);
  EXPECT_EQ(PartialSuffix("<tool>", "<tool>"), 0u) << "whole words are not partial";
  EXPECT_EQ(PartialSuffix("", "<tool>"), 0u);
  EXPECT_EQ(PartialSuffix("abc", ""), 0u);
  EXPECT_EQ(PartialSuffix("x<<t", "<tool>"), 2u);
}

}  // namespace
}  // namespace hone
