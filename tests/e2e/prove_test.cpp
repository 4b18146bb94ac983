// hone prove as people use it: a comparison so small that it shows nothing but that it works.

#include <gtest/gtest.h>

#include "base/file.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

class ProveTest : public testing::Test {
 protected:
  // Two lengths, two roles, two seeds: eight runs of a second each.
  std::string Comparison() {
    std::string recipe = TinyRecipe("runs");
    const std::string kinds = "kinds = [\"day_after\", \"clock\"]";
    recipe.replace(recipe.find(kinds), kinds.size(), "chain = 1");
    recipe.replace(recipe.find("mode = \"simulate\""), 17, "mode = \"live\"");
    EXPECT_TRUE(WriteFileAtomic(directory_.path() / "tiny.toml", recipe).ok());
    std::string text = "title = \"Tiny\"\nseeds = 2\n";
    for (const char* length : {"1", "2"}) {
      text += std::string("[[section]]\ntitle = \"") + length + "\"\n";
      for (const auto& [role, method] : {std::pair{"smeared-real", "smeared"},
                                         std::pair{"attributed-real", "toolpo-per-call"}}) {
        text += std::string("[[section.arm]]\nname = \"") + role + "-" + length +
                "\"\nrecipe = \"tiny.toml\"\nset = [\"environment.tasks.chain=" + length +
                "\", \"credit.method=" + method + "\"]\n";
      }
    }
    const std::filesystem::path file = directory_.path() / "tiny-prove.toml";
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return file.string();
  }

  const TemporaryDirectory directory_;
};

TEST_F(ProveTest, MakesTheRunsOnceAndReportsWithTheLaboratory) {
  const std::string file = Comparison(), out = (directory_.path() / "out").string();
  const SubprocessResult first = Hone({"prove", file, "--out", out, "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.standard_output << first.standard_error;
  const size_t last = first.standard_output.rfind("{\"event\":\"end\"");
  ASSERT_NE(last, std::string::npos);
  const Json end = ParseJson(first.standard_output.substr(last)).value();
  const Json::Array& chains = end.Find("proof")->Find("chains")->AsArray();
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_GT(chains[1].Find("effects")->AsArray()[0].Find("predicted_ratio")->AsDouble(), 0);
  EXPECT_EQ(end.Find("runs")->AsArray().size(), 8u);
  EXPECT_TRUE(end.Find("problems")->AsArray().empty()) << "arms of a seed begin alike";
  const std::string page = ReadFile(directory_.path() / "out/prove.html").value();
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org")) << "it stands alone";
  const SubprocessResult again = Hone({"prove", file, "--out", out, "--report-only"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.standard_output, ReadFile(directory_.path() / "out/prove.md").value());
}

TEST_F(ProveTest, BadInputIsRefusedBeforeAnythingIsDone) {
  ExpectError(Hone({"prove", "nowhere.toml"}), 1, "is not here");
  const std::string file = Comparison();
  std::string text = ReadFile(file).value();
  text.replace(text.find("smeared-real-1"), 14, "something-else");
  ASSERT_TRUE(WriteFileAtomic(file, text).ok());
  const std::string out = (directory_.path() / "out").string();
  ExpectError(Hone({"prove", file, "--out", out}), 1, "ROLE-LENGTH");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(ProveTest, ThePredictionIsTheOneThatWasCommitted) {
  const SubprocessResult now = Hone({"prove", "--predict", "--json"});
  ASSERT_EQ(now.exit_code, 0) << now.standard_error;
  const Json computed = ParseJson(now.standard_output).value();
  const Json committed =
      ParseJson(ReadFile(HONE_SOURCE_DIR "/docs/reports/prove-prediction.json").value()).value();
  const Json::Array &a = computed.Find("chains")->AsArray(),
                    &b = committed.Find("chains")->AsArray();
  ASSERT_EQ(a.size(), 4u);
  ASSERT_EQ(b.size(), 4u);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t method = 0; method < 3; ++method) {
      const auto sum = [&](const Json& chain) {
        return chain.Find("methods")->AsArray()[method].Find("sum")->AsDouble();
      };
      EXPECT_NEAR(sum(a[i]) / sum(b[i]), 1, 1e-9)
          << "the last digits are the mathematics library's";
    }
  }
}

TEST_F(ProveTest, TheWholeAndTheQuickOneCanBeRead) {
  const std::string out = (directory_.path() / "out").string();
  const std::filesystem::path ledger = directory_.path() / "prove.jsonl";
  std::filesystem::copy_file(HONE_SOURCE_DIR "/comparisons/prove.jsonl", ledger);
  const SubprocessResult report =
      Hone({"prove", "--ledger", ledger.string(), "--out", out, "--report-only"});
  EXPECT_EQ(report.exit_code, 0) << report.standard_error;
  EXPECT_NE(report.standard_output.find("laboratory"), std::string::npos);
  // The quick one is in no ledger: a report of nothing would take the place of a real one.
  const std::string page = (directory_.path() / "report.md").string();
  ExpectError(Hone({"prove", "--quick", "--out", out, "--report-only", "--markdown", page}), 1,
              "no run of this comparison");
  EXPECT_FALSE(std::filesystem::exists(page));
  ExpectError(Hone({"prove", "--quick", "--prediction", "/tmp/no-such.json", "--report-only"}), 1,
              "there is no prediction");
}

}  // namespace
}  // namespace hone
