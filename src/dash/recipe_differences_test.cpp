#include "dash/recipe_differences.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(RecipeDifferences, AreTheKeysWhoseValuesAreNotAllTheSame) {
  const auto found = DifferencesOf(
      {"a = 1\n[run]\nname = \"x\"\nseed = 1\n[credit]\nmethod = \"grpo\"\nlist = [1, 2]\n"
       "[[stage]]\nkind = \"rl\"\nsteps = 5\n",
       "a = 1\n[run]\nname = \"y\"\nseed = 2\n[credit]\nmethod = \"grpo\"\nlist = [1, 2]\n"
       "[[stage]]\nkind = \"rl\"\nsteps = 6\nmore = true\n"});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(DumpJson(ToJson(*found)), R"([{"key":"run.seed","values":["1","2"]},)"
                                      R"({"key":"stage.0.steps","values":["5","6"]},)"
                                      R"({"key":"stage.0.more","values":["","true"]}])");
}

TEST(RecipeDifferences, OfOneOrNoneThereAreNone) {
  EXPECT_TRUE(DifferencesOf({"a = 1\n"})->empty());
  EXPECT_TRUE(DifferencesOf({})->empty());
  EXPECT_FALSE(DifferencesOf({"a = 1\n", "a ="}).ok());
}

}  // namespace
}  // namespace hone
