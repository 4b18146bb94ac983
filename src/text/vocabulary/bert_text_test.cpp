#include "text/vocabulary/bert_text.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/vocabulary/pattern.h"

namespace hone {
namespace {

std::string OneCharacter(uint32_t c) {
  std::string text;
  AppendUtf8(c, &text);
  return text;
}

// Calls with every character that Unicode has room for.
template <typename Take>
void ForEachCharacter(Take take) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c > 0xDFFF) take(c);
  }
}

class BertCharacters : public testing::Test {
 protected:
  // tests/golden/tokenizer/kinds/bert_characters.json: what Hugging Face's tokenizers take every
  // character for.
  std::vector<bool> Expected(const char* set) {
    const Json json =
        ParseJson(*ReadFile(HONE_SOURCE_DIR "/tests/golden/tokenizer/kinds/bert_characters.json"))
            .value();
    std::vector<bool> in(0x110000);
    for (const Json& range : json.Find(set)->AsArray()) {
      for (int64_t c = range.AsArray()[0].AsInteger(); c <= range.AsArray()[1].AsInteger(); ++c) {
        in[static_cast<size_t>(c)] = true;
      }
    }
    return in;
  }
};

TEST_F(BertCharacters, ThoseThatCleaningTakesAwayAreTheLibrarys) {
  const std::vector<bool> removed = Expected("removed");
  int wrong = 0;
  ForEachCharacter(
      [&](uint32_t c) { wrong += CleanedText(OneCharacter(c)).empty() != removed[c]; });
  EXPECT_EQ(wrong, 0);
}

TEST_F(BertCharacters, ThoseThatAreMarksAreTheLibrarys) {
  const std::vector<bool> marks = Expected("nonspacing");
  int wrong = 0;
  ForEachCharacter(
      [&](uint32_t c) { wrong += WithoutNonspacingMarks(OneCharacter(c)).empty() != marks[c]; });
  EXPECT_EQ(wrong, 0);
}

TEST_F(BertCharacters, ThoseThatArePunctuationAreTheLibrarys) {
  const std::vector<bool> punctuation = Expected("punctuation");
  const Pattern pattern = Pattern::Compile(BertPunctuation()).value();
  int wrong = 0;
  ForEachCharacter([&](uint32_t c) {
    const std::string text = OneCharacter(c);
    wrong += Pattern::Matches(pattern, text).Next() != punctuation[c];
  });
  EXPECT_EQ(wrong, 0);
}

TEST(BertText, BlanksBecomeSpacesAndChineseStandsAlone) {
  EXPECT_EQ(CleanedText("a\tb\r\n\u00a0c\u200bd"), "a b   cd");
  EXPECT_EQ(WithSpacedIdeographs("a日本"), "a 日  本 ");
  EXPECT_EQ(WithSpacedIdeographs("かな"), "かな");
}

}  // namespace
}  // namespace hone
