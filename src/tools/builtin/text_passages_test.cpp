#include "tools/builtin/text_passages.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "tools/builtin/html_text.h"

namespace hone {
namespace {

using Passages = std::vector<TextPassage>;

TEST(TextPassages, ParagraphsAreTogetherAsLongAsTheyFit) {
  const std::string text = "one two\nthree\n\n  four five \n \t\nsix\r\n\r\nseven";
  EXPECT_EQ(PassagesOf(text, Headings::kNone, 5),
            (Passages{{"", "one two three four five"}, {"", "six seven"}}));
  EXPECT_EQ(PassagesOf(text, Headings::kNone, 4),
            (Passages{{"", "one two three"}, {"", "four five six seven"}}));
  EXPECT_EQ(PassagesOf(" \n\n\t", Headings::kNone, 4), Passages());
}

TEST(TextPassages, ALongParagraphIsCutBehindASentenceAndALongSentenceBehindAWord) {
  EXPECT_EQ(PassagesOf("A b c. D e? F g h i j k l.", Headings::kNone, 5),
            (Passages{{"", "A b c. D e?"}, {"", "F g h i j"}, {"", "k l."}}));
  // What follows it goes on in its last passage.
  EXPECT_EQ(PassagesOf("a b c d e\n\nf", Headings::kNone, 4),
            (Passages{{"", "a b c d"}, {"", "e f"}}));
}

TEST(TextPassages, AHeadingBeginsAPassage) {
  const std::string text =
      "before\n# Oslo #\nA city.\n\n## Harbour\n## Weather\nrain\n#hashtag\n```\n# code\n```\n";
  EXPECT_EQ(
      PassagesOf(text, Headings::kMarkdown, 50),
      (Passages{{"", "before"}, {"Oslo", "A city."}, {"Weather", "rain #hashtag ``` # code ```"}}));
  EXPECT_EQ(PassagesOf("# a\nb", Headings::kNone, 50), (Passages{{"", "# a b"}}));
}

TEST(TextPassages, RunsWithoutBlanksAreCutBetweenCharacters) {
  std::string run;
  for (int i = 0; i < 40; ++i) run += "東京";
  const Passages cut = PassagesOf(run, Headings::kNone, 3);
  ASSERT_EQ(cut.size(), 3u);  // 240 bytes, 3 x 30 in each
  std::string again;
  for (const TextPassage& passage : cut) {
    EXPECT_TRUE(IsUtf8(passage.text));
    again += passage.text;
  }
  EXPECT_EQ(again, run);
}

// Every word is in one passage, in order, and no passage has too many.
TEST(TextPassages, NothingIsLostAndNothingIsTooLong) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    std::string text, words;
    const uint64_t count = rng.Below(120);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string word(1 + rng.Below(9), static_cast<char>('a' + rng.Below(26)));
      const std::string end = rng.Below(6) == 0 ? "." : "";
      words += (words.empty() ? "" : " ") + word + end;
      const char* const between[] = {" ", " ", " ", "\n", "\n\n", "  \n \n"};
      text += word + end + between[rng.Below(6)];
    }
    const auto most = static_cast<int64_t>(1 + rng.Below(20));
    std::string again;
    for (const TextPassage& passage : PassagesOf(text, Headings::kMarkdown, most)) {
      EXPECT_LT(std::count(passage.text.begin(), passage.text.end(), ' '), most);
      again += (again.empty() ? "" : " ") + passage.text;
    }
    EXPECT_EQ(again, words);
  }
}

TEST(HtmlText, BlocksAreParagraphsAndHeadingsAreMarked) {
  const HtmlText page = TextOfHtml(
      "<!DOCTYPE html><html><head><TITLE>Oslo &amp; sea</TITLE><style>p {}</style></head><body>"
      "<h2 class='a'>Harbour</h2><p>Ships\nand <b>bo</b>ats.<p>5&nbsp;&lt; 6 &#8364;&#x41; &huh; "
      "A&B"
      "<script>if (a < b) '</p>';</script><!-- <p>gone</p> --><ul><li>one<li>two</ul></body>");
  EXPECT_EQ(page.title, "Oslo & sea");
  EXPECT_EQ(PassagesOf(page.text, Headings::kMarkdown, 100),
            (Passages{{"Harbour", "Ships and boats. 5 < 6 €A &huh; A&B one two"}}));
}

TEST(HtmlText, WhateverItIsItEnds) {
  Rng rng(5);
  const std::string_view parts[] = {"<",         ">", "</", "<!--", "-->",   "<script",
                                    "</script>", "&", ";",  "#",    "title", "p",
                                    "h1",        " ", "é",  "<p>",  "&#0;",  "&#xd800;"};
  for (int round = 0; round < 2000; ++round) {
    std::string html;
    for (uint64_t i = rng.Below(40); i > 0; --i) html += parts[rng.Below(std::size(parts))];
    const HtmlText page = TextOfHtml(html);
    EXPECT_TRUE(IsUtf8(page.text) && IsUtf8(page.title)) << html;
  }
}

}  // namespace
}  // namespace hone
