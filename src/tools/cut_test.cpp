#include "tools/cut.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace hone {
namespace {

TEST(Cut, LeavesAloneWhatFits) {
  EXPECT_EQ(Cut("abc", 3).text, "abc");
  EXPECT_EQ(Cut("abc", 3).cut_bytes, 0);
  EXPECT_EQ(Cut("", 0).cut_bytes, 0);
}

TEST(Cut, KeepsBothEndsAndSaysHowMuchIsMissing) {
  const CutText cut = Cut("abcdefghijklmnopqrstuvwxyz", 9);
  EXPECT_EQ(cut.text, "abcdef\n[... 17 bytes left out ...]\nxyz");
  EXPECT_EQ(cut.cut_bytes, 17);
}

TEST(Cut, NeverSplitsACharacterAndRepairsBrokenOnes) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "aé漢🙂";
  for (int64_t limit = 0; limit < 60; ++limit) {
    const CutText cut = Cut(text, limit);
    EXPECT_TRUE(IsUtf8(cut.text)) << limit;
    EXPECT_GE(cut.cut_bytes, static_cast<int64_t>(text.size()) - limit);
  }
  EXPECT_EQ(Cut("a\xff", 100).text, "a\xEF\xBF\xBD");
}

TEST(CutToCharacters, KeepsBothHalvesOfWhatIsTooLong) {
  EXPECT_EQ(CutToCharacters("漢字é🙂", 4), "漢字é🙂");
  EXPECT_EQ(CutToCharacters("漢字é🙂x", 3), "漢字\n[... 2 characters left out ...]\nx");
  EXPECT_EQ(CutToCharacters("漢字é🙂x", 2), "漢\n[... 3 characters left out ...]\nx");
  EXPECT_EQ(CutToCharacters("ab", 1), "a\n[... 1 characters left out ...]\n");
  EXPECT_EQ(CutToCharacters("", 0), "");
}

}  // namespace
}  // namespace hone
