#include "text/jinja/jinja_text.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(JinjaTextTest, KnowsWhichBytesAreForeignThroughJoiningAndCutting) {
  JinjaText text("<s>");
  text.Append(JinjaText::Foreign("ab"));
  text.Append(JinjaText::Foreign("c"));
  text.Append("</s>");
  EXPECT_EQ(text.bytes(), "<s>abc</s>");
  EXPECT_EQ(text.foreign(), (std::vector<ByteRange>{{3, 6}}));
  EXPECT_EQ(text.Part(4, 8).bytes(), "bc</");
  EXPECT_EQ(text.Part(4, 8).foreign(), (std::vector<ByteRange>{{0, 2}}));
  EXPECT_TRUE(text.Part(6, 10).foreign().empty());
  EXPECT_EQ(text.Became("X").foreign(), (std::vector<ByteRange>{{0, 1}}));
  EXPECT_TRUE(JinjaText("own").Became("X").foreign().empty());
  EXPECT_TRUE(JinjaText::Foreign("").foreign().empty());
}

TEST(JinjaTextTest, CountsCharactersAsPythonDoes) {
  EXPECT_EQ(CountCharacters("aé語😀"), 4u);
  EXPECT_EQ(CharacterOffset("aé語", 2), 3u);
  EXPECT_EQ(CharacterOffset("aé", 9), 3u);
  EXPECT_EQ(CharacterOffsets("é!"), (std::vector<size_t>{0, 2, 3}));
}

TEST(JinjaTextTest, StripsWhiteSpaceOfEveryKindOrGivenCharacters) {
  const auto stripped = [](std::string_view text, std::optional<std::string_view> characters,
                           StripSides sides) {
    const ByteRange range = Stripped(text, characters, sides);
    return std::string(text.substr(range.begin, range.end - range.begin));
  };
  EXPECT_EQ(stripped("\u00a0\n a \u2028", std::nullopt, {}), "a");
  EXPECT_EQ(stripped("  a ", std::nullopt, {.right = false}), "a ");
  EXPECT_EQ(stripped("éaéb", "é", {}), "aéb");
  EXPECT_EQ(stripped("   ", std::nullopt, {}), "");
}

TEST(JinjaTextTest, EscapesForHtmlOnce) {
  const JinjaText escaped = EscapedForHtml(JinjaText::Foreign("<'&\">"));
  EXPECT_EQ(escaped.bytes(), "&lt;&#39;&amp;&#34;&gt;");
  EXPECT_EQ(EscapedForHtml(escaped).bytes(), escaped.bytes());
}

}  // namespace
}  // namespace hone
