// The check of the pages must fire.

#include "support/house_check.h"

namespace hone {
namespace {

class ProseTest : public HouseCheckTest {
 protected:
  ProseTest() : HouseCheckTest("check_prose.py") {}

  void SetUp() override {
    Write("README.md", "# Hone\n\nIt trains.\n\n## More\n\n" + Words(500) + "\n");
    Write("docs/README.md", "# Pages\n\n- [words](concepts.md)\n- [keys](recipe.md)\n");
    Write("docs/concepts.md", "# Words\n\nShort.\n");
    WriteKeys(60);
  }

  // So many words, as sentences and lines that are short enough.
  static std::string Words(int count, std::string_view word = "word") {
    std::string text;
    for (int i = 1; i <= count; ++i) text += std::string(word) + (i % 10 == 0 ? ".\nA" : " ");
    return text;
  }
  // One sentence of so many words, over several lines.
  static std::string Sentence(int words) {
    std::string text = "It";
    for (int i = 1; i < words; ++i) text += i % 8 == 0 ? "\ngoes" : " goes";
    return text + ".\n";
  }
  void WriteKeys(int count) {
    std::string text = "# Recipes\n\n| key | default |\n|---|---|\n";
    for (int i = 0; i < count; ++i) text += "| `key` | `1` |\n";
    Write("docs/recipe.md", text + "\n| key |\n|---|\n| `another` |\n");
  }
};

TEST_F(ProseTest, ThisRepositoryObeys) {
  const SubprocessResult result = CheckAt(HONE_SOURCE_DIR);
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
}

TEST_F(ProseTest, ShortPagesPass) {
  const SubprocessResult result = Check();
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
}

TEST_F(ProseTest, AnOpeningThatTakesLongerThanAMinuteIsFound) {
  Write("README.md", "# Hone\n\n" + Words(400) + "\n\n## More\n");
  ExpectRefused("words before the first heading, and 350 are allowed");
  Write("README.md", "# Hone\n\n    ./quickstart 1 2 3 4 5 6 7 8 9 10 11 12\n\n## More 13\n");
  EXPECT_EQ(Check().exit_code, 0);
  Write("README.md", "# Hone\n\n| 1 | 2.5 | +3 |\n\n4 5 6 7 8 9 10 11 12 -13\n\n## More\n");
  ExpectRefused("13 numbers before the first heading, and 12 are allowed");
}

TEST_F(ProseTest, ALineOfMoreThan120ColumnsIsFound) {
  const std::string wide = std::string(59, 'a') + " " + std::string(60, 'b');
  Write("docs/concepts.md", wide + "\n");
  EXPECT_EQ(Check().exit_code, 0) << "120 columns";
  Write("docs/concepts.md", wide + "c\n");
  ExpectRefused("docs/concepts.md:1: 121 columns, and 120 are allowed");
  for (const std::string& allowed :
       {"| " + wide + " |", "```\n" + wide + "c\n```", "Code:\n\n    " + wide + "c",
        "- [" + wide + "c](concepts.md)", "See https://x.test/" + std::string(120, 'x'),
        "<!-- Written by `hone pipe`. -->\n" + wide + "c"}) {
    Write("docs/concepts.md", allowed + "\n");
    EXPECT_EQ(Check().exit_code, 0) << allowed;
  }
  Write("docs/concepts.md", "Short.\n");
  Write("docs/reports/results.md", wide + "c\n");
  EXPECT_EQ(Check().exit_code, 0) << "the program writes reports";
}

TEST_F(ProseTest, ASentenceOfMoreThan30WordsIsFound) {
  Write("docs/concepts.md", Sentence(30) + Sentence(30));
  EXPECT_EQ(Check().exit_code, 0);
  Write("docs/concepts.md", "# Words\n\n" + Sentence(31));
  ExpectRefused("docs/concepts.md:3: a sentence of 31 words, and 30 are allowed: It goes goes");
  Write("docs/concepts.md", "- " + Sentence(20) + "- it\n  " + Sentence(20));
  EXPECT_EQ(Check().exit_code, 0) << "items end sentences";
  std::string row = "|";
  for (int i = 0; i < 40; ++i) row += " goes";
  Write("docs/concepts.md", "```\n" + Sentence(40) + "```\n\n" + row + " |\n");
  EXPECT_EQ(Check().exit_code, 0) << "code and tables have none";
  Write("docs/concepts.md", "Short.\n");
  Write("docs/howto/add.md", Sentence(31));
  ExpectRefused("docs/howto/add.md:1: a sentence of 31 words");
}

TEST_F(ProseTest, MoreThan60KeysOnTheFirstPageAreFound) {
  WriteKeys(61);
  ExpectRefused("docs/recipe.md: 61 keys in the first table, and 60 are allowed");
}

TEST_F(ProseTest, APageThatTheIndexDoesNotLinkIsFound) {
  Write("docs/decisions/0001-x.md", "# X\n");
  EXPECT_EQ(Check().exit_code, 0) << "a folder that is linked as a whole";
  Write("docs/stray.md", "# Stray\n");
  ExpectRefused("docs/stray.md: docs/README.md does not link it");
}

TEST_F(ProseTest, ALinkToNothingIsFound) {
  Write("src/base/README.md", "[up](../../README.md#more) [there](https://x.test/a) [here](#x)\n");
  EXPECT_EQ(Check().exit_code, 0);
  Write("src/base/README.md", "`[code](none.md)`\n\n| [table](none.md) |\n");
  ExpectRefused("src/base/README.md:3: a link to none.md, which is not there");
}

}  // namespace
}  // namespace hone
