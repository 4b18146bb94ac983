// hone prove as people use it: a comparison so small that it shows nothing but that it works.

#include <gtest/gtest.h>

#include "base/file.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class ProveTest : public testing::Test {
 protected:
  // Two arms, two seeds, a claim: four runs of a second each.
  std::string Comparison(const std::string& against = "old") {
    std::string recipe = TinyRecipe("runs");
    recipe.replace(recipe.find("mode = \"simulate\""), 17, "mode = \"live\"");
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / "tiny.toml", recipe).ok());
    const std::string text = R"(title = "Tiny"
seeds = 2
controls = []
[[arm]]
name = "old"
recipe = "tiny.toml"
set = ["credit.method=smeared"]
[[arm]]
name = "new"
recipe = "tiny.toml"
set = ["credit.method=toolpo-per-call"]
[[claim]]
title = "Sooner"
arm = "new"
against = ")" + against + R"("
predicted = 1.5
primary = true
)";
    const std::filesystem::path file = directory_.path() / "tiny-prove.toml";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return file.string();
  }

  const TemporaryDirectory directory_;
};

TEST_F(ProveTest, MakesTheRunsOnceAndHasThePredictionBesideThem) {
  const std::string file = Comparison(), out = (directory_.path() / "out").string();
  const SubprocessResult first = Hone({"prove", file, "--out", out, "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.standard_output << first.standard_error;
  const size_t last = first.standard_output.rfind("{\"event\":\"end\"");
  ASSERT_NE(last, std::string::npos);
  const Json end = ParseJson(first.standard_output.substr(last)).value();
  const Json::Array& claims = end.Find("claims")->AsArray();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].Find("predicted")->AsDouble(), 1.5);
  EXPECT_EQ(claims[0].Find("verdict")->AsString(), "too few seeds");
  EXPECT_EQ(end.Find("runs")->AsArray().size(), 4u);
  EXPECT_TRUE(end.Find("problems")->AsArray().empty()) << "arms of a seed begin alike";
  const std::string page = ReadFile(directory_.path() / "out/prove.html").value();
  EXPECT_NE(page.find("What was claimed beforehand"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org")) << "it stands alone";
  const SubprocessResult again = Hone({"prove", file, "--out", out, "--report-only"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.standard_output, ReadFile(directory_.path() / "out/prove.md").value());
}

TEST_F(ProveTest, BadInputIsRefusedBeforeAnythingIsDone) {
  ExpectError(Hone({"prove", "nowhere.toml"}), 1, "nowhere.toml");
  const std::string out = (directory_.path() / "out").string();
  ExpectError(Hone({"prove", Comparison("nobody"), "--out", out}), 1, "there is no arm \"nobody\"");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(ProveTest, TheWholeAndTheQuickOneCanBeRead) {
  const std::string out = (directory_.path() / "out").string();
  // Nothing was made here: a report of nothing would take the place of a real one.
  const std::string page = (directory_.path() / "report.md").string();
  ExpectError(Hone({"prove", "--out", out, "--report-only"}), 1, "no run of this comparison");
  ExpectError(Hone({"prove", "--quick", "--out", out, "--report-only", "--markdown", page}), 1,
              "no run of this comparison");
  EXPECT_FALSE(std::filesystem::exists(page));
}

}  // namespace
}  // namespace hone
