#include "rewards/matching/plain_text.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace hone {
namespace {

// A letter beyond ASCII at both ends takes the other way, and keeps all between them from being
// trimmed.
TEST(NormalisedText, IsTheSameForAsciiAloneAndAmongOtherLetters) {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint64_t i = rng.Below(12); i > 0; --i) {
      text.push_back(rng.Below(3) == 0 ? ' ' : static_cast<char>(' ' + rng.Below(95)));
    }
    const std::string alone = NormalisedText("a" + text + "b");
    const std::string among = NormalisedText("\u00e9" + text + "\u00e9");
    EXPECT_EQ(alone.substr(1, alone.size() - 2), among.substr(2, among.size() - 4)) << text;
  }
  EXPECT_EQ(NormalisedText("  \"To Be,  or NOT to be?\" "), "to be, or not to be");
  EXPECT_EQ(NormalisedText(" .,; "), "");
}

TEST(PlainText, CaseBlanksWidthAndPunctuationAroundAreMadeAlike) {
  EXPECT_EQ(NormalisedText("  The  Eiffel\u00a0Tower. "), "the eiffel tower");
  EXPECT_EQ(NormalisedText("\uff21\uff22\uff23"), "abc");
  EXPECT_EQ(NormalisedText("\"E\u0301t\u00c9\""), "\u00e9t\u00e9");
  EXPECT_EQ(NormalisedText("3.14"), "3.14");
  EXPECT_EQ(NormalisedText(""), "");
}

TEST(PlainText, QuestionAnsweringDropsPunctuationAndArticles) {
  EXPECT_EQ(QaNormalised("The Beatles, a band!"), "beatles band");
  EXPECT_EQ(QaNormalised("An \u201cA\u201d team"), "\u201c \u201d team");
  EXPECT_EQ(QaNormalised("theatre"), "theatre");
  EXPECT_EQ(QaNormalised("D.C."), "dc");
  EXPECT_EQ(QaNormalised("\u00c5NGSTR\u00d6M"), "\u00e5ngstr\u00f6m");
}

TEST(PlainText, TheLastBoxWithItsBraces) {
  EXPECT_EQ(LastBoxed("\\boxed{1} so \\boxed{\\frac{1}{2}}."), "\\frac{1}{2}");
  EXPECT_EQ(LastBoxed("\\boxed{open"), "");
  EXPECT_EQ(LastBoxed("none"), "");
}

TEST(PlainText, TheLastFence) {
  EXPECT_EQ(InsideFence("Here:\n```python\nprint(1)\n```\nDone"), "print(1)\n");
  EXPECT_EQ(InsideFence("```\na\n```\n```json\n{}\n```"), "{}\n");
  EXPECT_EQ(InsideFence("```{\"a\": 1}```"), "{\"a\": 1}");
  EXPECT_EQ(InsideFence("```never closed"), "```never closed");
  EXPECT_EQ(InsideFence("plain"), "plain");
}

TEST(PlainText, SimilarityIsOneMinusTheShareOfEdits) {
  EXPECT_DOUBLE_EQ(TextSimilarity("kitten", "sitting"), 1 - 3.0 / 7);
  EXPECT_DOUBLE_EQ(TextSimilarity("", ""), 1);
  EXPECT_DOUBLE_EQ(TextSimilarity("", "ab"), 0);
  EXPECT_DOUBLE_EQ(TextSimilarity("\u00e9", "\u00e9"), 1);
  EXPECT_DOUBLE_EQ(TextSimilarity(std::string(4000, 'a'), std::string(3000, 'a')), 0.5);
}

TEST(PlainText, BytesThatAreNoTextDoNoHarm) {
  EXPECT_EQ(QaNormalised("\xff\xfe"), "\ufffd\ufffd");
  EXPECT_EQ(Replaced("aXbX", "X", ""), "ab");
  EXPECT_EQ(Replaced("ab", "", "x"), "ab");
}

TEST(PlainText, WholeWordsHaveEdgesAtBothEnds) {
  EXPECT_TRUE(HoldsWholeWords("it is 7 here", "7"));
  EXPECT_TRUE(HoldsWholeWords("7", "7"));
  EXPECT_FALSE(HoldsWholeWords("it is 17 here", "7"));
  EXPECT_TRUE(HoldsWholeWords("17 and 7", "7")) << "a later place counts";
  EXPECT_TRUE(HoldsWholeWords("in new york: rain", "new york"));
  EXPECT_FALSE(HoldsWholeWords("\u00e9t\u00e9s", "t")) << "letters beyond ASCII are letters";
  EXPECT_FALSE(HoldsWholeWords("a $5", "$5")) << "between a blank and a sign there is no edge";
  EXPECT_TRUE(HoldsWholeWords("a$5", "$5"));
  EXPECT_TRUE(HoldsWholeWords("word", ""));
  EXPECT_FALSE(HoldsWholeWords("", ""));
}

}  // namespace
}  // namespace hone
