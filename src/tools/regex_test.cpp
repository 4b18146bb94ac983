#include "tools/regex.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<std::string> All(std::string_view expression, std::string_view text) {
  std::vector<std::string> found;
  const Regex regex = *Regex::Compile(expression);
  const auto matches = *regex.FindAll(text);
  for (const Regex::Match& match : matches) {
    found.emplace_back(text.substr(match.begin, match.end - match.begin));
  }
  return found;
}

TEST(RegexTest, FindsAllMatchesFromLeftToRight) {
  EXPECT_EQ(All("[a-z]+\\d", "ab1 x2 c aé3"), (std::vector<std::string>{"ab1", "x2"}));
  EXPECT_EQ(All("é+", "éa éé"), (std::vector<std::string>{"é", "éé"}));
  EXPECT_TRUE(All("x", "").empty());
}

TEST(RegexTest, EmptyMatchesDoNotCountNorHang) {
  EXPECT_EQ(All("a*", "baab"), (std::vector<std::string>{"aa"}));
  EXPECT_TRUE(All("(?=a)", "aaa").empty());
}

TEST(RegexTest, ASearchWithoutEndIsAnError) {
  const std::string text = std::string(200, 'a') + "c";
  const Regex regex = *Regex::Compile("(a|aa)+$");
  EXPECT_EQ(regex.FindAll(text).error().code(), ErrorCode::kDeadline);
  EXPECT_EQ(regex.Finds(text), std::nullopt);
  EXPECT_EQ(regex.Finds("aac c"), false);
  EXPECT_EQ(regex.Finds("caa"), true);
}

TEST(RegexTest, AWrongExpressionIsQuoted) {
  EXPECT_NE(Regex::Compile("(").error().message().find("\"(\""), std::string::npos);
}

}  // namespace
}  // namespace hone
