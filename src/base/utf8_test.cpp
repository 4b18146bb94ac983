#include "base/utf8.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Utf8, AcceptsEveryLengthOfCharacter) {
  EXPECT_TRUE(IsUtf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
}

TEST(Utf8, RejectsOverlongSurrogateAndOutOfRangeForms) {
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80",
                          "\xFF", "\xC3", "\xE2\x82"}) {
    EXPECT_EQ(Utf8ValidPrefix(std::string("ok") + bad), 2u) << bad;
  }
}

// What Python's bytes.decode('utf-8', 'replace') gives for the same bytes.
TEST(Utf8, LossyReplacesEachMaximalIllFormedPart) {
  const std::string fffd = "\xEF\xBF\xBD";
  EXPECT_EQ(Utf8Lossy("a\xF0\x9F\x98z"), "a" + fffd + "z");
  EXPECT_EQ(Utf8Lossy("\xE0\x80\x80"), fffd + fffd + fffd);
  EXPECT_EQ(Utf8Lossy("\xED\xA0\x80"), fffd + fffd + fffd);
  EXPECT_EQ(Utf8Lossy("\xC3\xA9"), "\xC3\xA9");
}

TEST(Utf8, AnIncompleteSuffixIsOneThatCanStillBecomeACharacter) {
  EXPECT_EQ(Utf8IncompleteSuffix("abc"), 0u);
  EXPECT_EQ(Utf8IncompleteSuffix("abc\xC3"), 1u);
  EXPECT_EQ(Utf8IncompleteSuffix("abc\xF0\x9F\x98"), 3u);
  EXPECT_EQ(Utf8IncompleteSuffix("abc\xF0\x9F\x98\x80"), 0u);
  EXPECT_EQ(Utf8IncompleteSuffix("\x80"), 0u) << "a stray continuation byte will never be complete";
  EXPECT_EQ(Utf8IncompleteSuffix("\xE0\x80"), 0u) << "no character begins like this";
}

TEST(Utf8, EncodingAndDecodingAreInverse) {
  for (const uint32_t code_point : {0x24u, 0xE9u, 0x20ACu, 0x1F600u, 0x10FFFFu}) {
    std::string text;
    AppendUtf8(code_point, &text);
    size_t position = 0;
    EXPECT_EQ(NextCodePoint(text, &position), code_point);
    EXPECT_EQ(position, text.size());
  }
}

}  // namespace
}  // namespace hone
