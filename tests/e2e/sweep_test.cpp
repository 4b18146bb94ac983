// hone sweep as people use it: settings of a tiny recipe, a budget, going on, ranking.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class SweepCommandTest : public testing::Test {
 protected:
  SweepCommandTest() {
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / "tiny.toml", TinyRecipe("unused")).ok());
  }
  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }
  std::vector<std::string> Command(const std::vector<std::string>& more) const {
    std::vector<std::string> command = {"sweep", Path("tiny.toml"), "--jobs",
                                        "2",     "--out",           Path("out")};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  TemporaryDirectory directory_;
};

TEST_F(SweepCommandTest, SettingsAreMadeRankedAndNotMadeTwice) {
  ExpectError(Hone(Command({"--try", "credit.metod=toolpo"})), 1, "unknown key \"credit.metod\"");
  const std::vector<std::string> right = Command({"--try", "credit.method=toolpo,rloo"});
  const SubprocessResult made = Hone(right);
  ASSERT_EQ(made.exit_code, 0) << made.standard_error;
  EXPECT_NE(made.standard_output.find("| rank | method "), std::string::npos)
      << made.standard_output;
  EXPECT_NE(made.standard_output.find("The best: hone train "), std::string::npos)
      << made.standard_output;
  for (const char* file : {"method_toolpo/seed-1/result.json", "method_rloo/seed-1/result.json",
                           "sweep.md", "sweep.html", "sweep.json"}) {
    EXPECT_TRUE(Exists(directory_.path() / "out" / file)) << file;
  }
  const Json report = *ParseJson(*ReadFile(directory_.path() / "out/sweep.json"));
  const Json::Array& ranked = report.Find("ranked")->AsArray();
  ASSERT_EQ(ranked.size(), 2u);
  EXPECT_GE(ranked[0].Find("dev")->AsDouble(), ranked[1].Find("dev")->AsDouble());
  EXPECT_EQ(ranked[0].Find("finished")->AsInteger(), 1);
  const SubprocessResult again = Hone(right);
  EXPECT_EQ(again.exit_code, 0) << again.standard_error;
  EXPECT_NE(again.standard_output.find("2 runs, 2 of them finished before"), std::string::npos)
      << again.standard_output;
}

TEST_F(SweepCommandTest, WhatCannotBeSweptIsSaidBeforeAnythingIsMade) {
  ExpectError(Hone(Command({})), 2, "--try is required");
  ExpectError(Hone(Command({"--try", "credit.method"})), 1, "there is no KEY=");
  ExpectError(Hone(Command({"--try", "run.seed=1..9"})), 1, "--random N");
  ExpectError(Hone(Command({"--try", "credit.method=grpo,rloo", "--seeds", "3", "--runs", "2"})), 1,
              "does not allow one setting with 3 seeds");
  ExpectError(Hone(Command({"--try", "credit.method=grpo,rloo", "--report-only"})), 1,
              "no run of this comparison to report on");
  EXPECT_FALSE(Exists(directory_.path() / "out" / "method_grpo"));
}

}  // namespace
}  // namespace hone
