#include "learn/shares.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Shares Read(const std::string& list, const std::vector<std::string>& names, std::string* problems) {
  Recipe recipe = Recipe::Parse("mix = " + list, "mix.toml").value();
  RecipeTable root = recipe.Root();
  Shares shares = ReadShares(&root, "mix", "who", names);
  const Result<void> fine = recipe.Finish();
  if (!fine.ok()) *problems = fine.error().message();
  return shares;
}

TEST(SharesTest, ReadsNamesAndWeights) {
  std::string problems;
  EXPECT_EQ(Read(R"(["desk=0.5", "a=b=2"])", {}, &problems), (Shares{{"desk", 0.5}, {"a=b", 2}}));
  EXPECT_EQ(problems, "");
}

TEST(SharesTest, NamesEveryEntryThatIsWrong) {
  std::string problems;
  Read(R"(["desk", "quiz=0", "board=-1", "shop=1", "shop=2"])", {}, &problems);
  for (const char* wrong : {"\"desk\"", "\"quiz=0\"", "\"board=-1\"", "\"shop=2\""}) {
    EXPECT_NE(problems.find(wrong), std::string::npos) << problems;
  }
  EXPECT_EQ(problems.find("\"shop=1\""), std::string::npos) << problems;
}

TEST(SharesTest, ANameThatIsNotThereGetsTheNearest) {
  std::string problems;
  Read(R"(["desk=1", "swichboard=1"])", {"desk", "switchboard"}, &problems);
  EXPECT_NE(problems.find("there is no \"swichboard\""), std::string::npos) << problems;
  EXPECT_NE(problems.find("switchboard"), std::string::npos) << problems;
}

TEST(SharesTest, AWeightOfZeroIsReadWhereItMeansSomething) {
  Shares shares;
  EXPECT_FALSE(ReadShare("call=0", false, &shares));
  EXPECT_TRUE(ReadShare("call=0", true, &shares));
  EXPECT_EQ(shares, (Shares{{"call", 0}}));
}

}  // namespace
}  // namespace hone
