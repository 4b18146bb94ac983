// Credit from outside: the pass, the explanations, the list of methods.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "credit/methods.h"
#include "e2e/program.h"
#include "record/record_json.h"
#include "record/validate.h"
#include "support/random_record.h"

namespace hone {
namespace {

constexpr char kGroup[] =
    R"({"group":[{"terms":{"outcome":1.0},"turns":[{"tokens":5,"author":"policy",)"
    R"("calls":[{"begin":1,"end":4,"terms":{"call":1}}]}]},)"
    R"({"terms":{"outcome":0.0},"turns":[{"tokens":3,"calls":[{"begin":0,"end":2,)"
    R"("terms":{"call":0}}]}]}]})";

Json Line(const SubprocessResult& result) {
  const auto lines = ParseJsonLines(result.standard_output);
  EXPECT_TRUE(lines.ok() && lines->size() == 1) << result.standard_output << result.standard_error;
  return lines.ok() && !lines->empty() ? (*lines)[0] : Json();
}

TEST(CreditPass, AnswersTheShortFormWithOneListPerMember) {
  const Json out = Line(Hone({"pipe", "credit", "--method", "toolpo"}, kGroup));
  EXPECT_EQ(DumpJson(out), R"({"advantages":[[0.5,1.0,1.0,1.0,0.5],[-1.0,-1.0,-0.5]]})");
  const Json split = Line(Hone({"pipe", "credit", "--method", "toolpo-split"}, kGroup));
  EXPECT_EQ(DumpJson(split), R"({"advantages":[[0.5,0.5,0.5,0.5,0.5],[-0.5,-0.5,-0.5]]})");
}

TEST(CreditPass, AddsAdvantagesToATreeAndExplainsWhenAsked) {
  ScoredTree record = RandomRecord(Rng(5));
  record.advantages.clear();
  const std::string line = DumpJson(RecordToJson(record));
  const Json out = Line(Hone({"pipe", "credit", "--method", "grpo"}, line));
  const Result<ScoredTree> scored = RecordFromJson(out);
  ASSERT_TRUE(scored.ok());
  EXPECT_EQ(Validate(*scored), std::vector<std::string>());
  EXPECT_EQ(scored->advantages.size(), record.tree.leaves.size());
  EXPECT_EQ(scored->tree, record.tree);
  const Json explained =
      Line(Hone({"pipe", "credit", "--method", "grpo", "--explain", "yes"}, line));
  EXPECT_NE(explained.Find("layers"), nullptr);
  EXPECT_NE(explained.Find("notes"), nullptr);
}

// Everything that some method needs.
constexpr char kAllTerms[] =
    R"({"group":[{"terms":{"outcome":1.0,"preference":0.5,"criterion:1":1},"turns":[{"tokens":5,)"
    R"("calls":[{"begin":1,"end":4,"terms":{"call":1,"execution":1,"information_gain":0.5}}]}]},)"
    R"({"terms":{"outcome":0.0,"preference":0.25,"criterion:1":0},"turns":[{"tokens":3}]}]})";

TEST(CreditPass, EveryMethodAnswersAndBrokenTreesAreRefusedInWords) {
  for (const std::string& name : MethodNames()) {
    EXPECT_NE(Line(Hone({"pipe", "credit", "--method", name}, kAllTerms)).Find("advantages"),
              nullptr)
        << name;
  }
  ScoredTree broken = RandomRecord(Rng(5));
  broken.tree.nodes[1].parent = 1;  // a cycle
  const Json refused =
      Line(Hone({"pipe", "credit", "--method", "grpo"}, DumpJson(RecordToJson(broken))));
  ASSERT_NE(refused.Find("error"), nullptr);
  EXPECT_NE(refused.Find("error")->Find("message")->AsString().find("nodes[1]"), std::string::npos);
  ExpectError(Hone({"pipe", "credit", "--method", "gpro"}, kGroup), 1, "grpo");
}

TEST(CreditPass, ATreeWithoutTheTermsOfTheMethodIsRefused) {
  for (const char* name : {"awpo", "igpo", "stepsearch", "steptool", "cm2-turn"}) {
    const Json refused = Line(Hone({"pipe", "credit", "--method", name}, kGroup));
    ASSERT_NE(refused.Find("error"), nullptr) << name;
    EXPECT_NE(refused.Find("error")->Find("message")->AsString().find("needs"), std::string::npos);
  }
}

TEST(CreditExplain, ShowsTokensByChannelAndTwoMethodsSideBySide) {
  TemporaryDirectory folder;
  const std::string file = (folder.path() / "group.json").string(),
                    page = (folder.path() / "credit.html").string();
  ASSERT_TRUE(WriteFileAtomic(file, kGroup).ok());
  const std::string shown =
      Hone({"credit", "explain", file, "--method", "toolpo", "--against", "grpo"}).standard_output;
  for (const char* part : {"toolpo", "grpo", "action", "1–4", "+1.0000", "-0.7071"}) {
    EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
  }
  EXPECT_EQ(shown.find('\x1b'), std::string::npos) << "colour only on a terminal";
  const Json json = Line(Hone({"--json", "credit", "explain", file, "--method", "toolpo"}));
  EXPECT_EQ(json.Find("methods")->AsArray()[0].Find("layers")->AsArray().size(), 2u);
  EXPECT_EQ(
      Hone({"credit", "explain", file, "--method", "toolpo", "--against", "grpo", "--html", page})
          .exit_code,
      0);
  const std::string html = *ReadFile(page);
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_EQ(html.find("http"), std::string::npos) << "the page needs nothing from elsewhere";
  EXPECT_NE(html.find("title=\"+1.000000\""), std::string::npos);
  ExpectError(Hone({"credit", "explain", file, "--method", "toolpo", "--leaf", "7"}), 1, "leaf 7");
}

TEST(CreditMethods, AreListed) {
  const SubprocessResult table = Hone({"credit", "methods"});
  const Json json = Line(Hone({"--json", "credit", "methods"}));
  EXPECT_EQ(json.Find("methods")->AsArray().size(), MethodNames().size());
  for (const std::string& name : MethodNames()) {
    EXPECT_NE(table.standard_output.find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace hone
