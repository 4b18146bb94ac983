#include "text/vocabulary/decoding.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

DecodeOptions Llama2() {
  DecodeOptions options;
  options.byte_level = false;
  options.byte_fallback = true;
  options.rewrites.push_back({std::make_shared<Pattern>(Pattern::Literal("▁")), " "});
  options.strip = " ";
  options.strip_most = 1;
  return options;
}

TEST(Decoding, ATokenIsItsTextOrItsByte) {
  const DecodeOptions options = Llama2();
  EXPECT_EQ(options.TextOf("▁the▁", false), " the ");
  EXPECT_EQ(options.TextOf("<0x0A>", false), "\n");
  EXPECT_EQ(options.ByteOf("<0xE8>"), '\xE8');
  EXPECT_EQ(options.ByteOf("<0xG8>"), std::nullopt);
  EXPECT_EQ(options.ByteOf("<0x123>"), std::nullopt);
}

TEST(Decoding, BytesInARowAreTextTogetherOrNotAtAll) {
  const DecodeOptions options = Llama2();
  TextJoiner joiner(options);
  EXPECT_EQ(joiner.AddText(" a"), "a") << "the space before a text goes";
  EXPECT_EQ(joiner.AddByte('\xC3'), "");
  EXPECT_EQ(joiner.AddByte('\xA9'), "");
  EXPECT_EQ(joiner.AddText(" b"), "é b");
  joiner.AddByte('x');
  joiner.AddByte('\xFF');
  EXPECT_EQ(joiner.Finish(), "\uFFFD\uFFFD");
}

TEST(Decoding, TheFirstTokenLosesItsSpacesWhereThePlanSaysSo) {
  DecodeOptions options;
  options.byte_level = false;
  options.metaspace = "▁";
  options.first_has_no_space = true;
  EXPECT_EQ(options.TextOf("▁a▁b", true), "ab");
  EXPECT_EQ(options.TextOf("▁a▁b", false), " a b");
}

}  // namespace
}  // namespace hone
