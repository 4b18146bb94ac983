#include "app/embedding/text_lines.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

class TextLines : public testing::Test {
 protected:
  Result<std::vector<TextLine>> Read(const char* content, const char* key = "") {
    const std::string file = (directory_.path() / "texts").string();
    EXPECT_TRUE(WriteFileAtomic(file, content).ok());
    return ReadTextLines(file, key);
  }
  TemporaryDirectory directory_;
};

TEST_F(TextLines, AreThoseThatAreNotBlankWithTheirNumbers) {
  const auto lines = Read("one\r\n\n  \ntwo words\nthree");
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->size(), 3u);
  EXPECT_EQ((*lines)[0].text, "one");
  EXPECT_EQ((*lines)[1].line, 4);
  EXPECT_EQ((*lines)[2].text, "three");
}

TEST_F(TextLines, AreTheTextsUnderAKey) {
  const auto lines = Read("{\"text\": \"a\\nb\", \"id\": 1}\n\n{\"text\": \"c\"}\n", "text");
  ASSERT_TRUE(lines.ok()) << lines.error().message();
  ASSERT_EQ(lines->size(), 2u);
  EXPECT_EQ((*lines)[0].text, "a\nb");
  EXPECT_EQ((*lines)[1].line, 3);
}

TEST_F(TextLines, ALineThatIsNoTextIsNamed) {
  EXPECT_NE(Read("a\n\xFF\n").error().message().find("texts:2: byte 0 is not UTF-8"),
            std::string::npos);
  EXPECT_NE(Read("{\"text\": \"a\"}\n{\"other\": 1}\n", "text")
                .error()
                .message()
                .find("texts:2: there is no key \"text\""),
            std::string::npos);
  EXPECT_NE(Read("{\"text\": 5}\n", "text").error().message().find("an integer, not a text"),
            std::string::npos);
  EXPECT_NE(Read("{\n", "text").error().message().find("texts:1: not JSON"), std::string::npos);
}

}  // namespace
}  // namespace hone
