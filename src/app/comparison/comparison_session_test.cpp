#include "app/comparison/comparison_session.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"

namespace hone {
namespace {

TEST(ComparisonSession, WordsAreQuotedForTheShellWhereTheyMustBe) {
  EXPECT_EQ(QuotedForShell("runs/a"), "runs/a");
  EXPECT_EQ(QuotedForShell("a b"), "'a b'");
  EXPECT_EQ(QuotedForShell("it's"), "'it'\\''s'");
  EXPECT_EQ(QuotedForShell(""), "''");
}

TEST(ComparisonSession, WhatIsThereIsReportedAndWrittenDownWithoutARun) {
  const TemporaryDirectory folder;
  const std::filesystem::path recipe = folder.path() / "tiny.toml";
  ASSERT_TRUE(WriteFileAtomic(recipe, TinyRecipe("runs")).ok());
  const ComparisonFile comparison =
      ReadComparison({.files = {recipe.string()}, .seeds = 2}).value();
  const SessionOptions options{.out = folder.path() / "out", .report_only = true};
  const auto nothing = CarryOutComparison(comparison, options);
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().message().find("without --report-only"), std::string::npos);
  const auto runs = PlanRuns(comparison, options.out).value();
  const CarriedOut carried_out{.comparison = comparison,
                               .records = ReadRuns(comparison, runs, nullptr)};
  const std::vector<ComparedRun>& records = carried_out.records;
  ASSERT_EQ(records.size(), 2u);
  ComparisonFindings findings = FindingsOf(carried_out, "hone compare");
  EXPECT_EQ(findings.failed, 0);
  EXPECT_EQ(*findings.json.Find("event"), Json("end"));
  findings.claims = {{"Claimed", {{"claim"}, {"sooner"}}, "a note"}};
  const ComparisonText head{.title = "T"};
  const auto text =
      WriteFindings(head, findings, records,
                    {folder.path() / "out", "proof", (folder.path() / "copy.md").string()});
  ASSERT_TRUE(text.ok()) << text.error().message();
  EXPECT_NE(text->find("## Claimed"), std::string::npos);
  EXPECT_EQ(ReadFile(folder.path() / "copy.md").value(), *text);
  EXPECT_EQ(ReadFile(folder.path() / "out/proof.md").value(), *text);
  EXPECT_NE(ReadFile(folder.path() / "out/proof.html").value().find("<h2>Claimed</h2>"),
            std::string::npos);
  EXPECT_TRUE(ParseJson(ReadFile(folder.path() / "out/proof.json").value()).ok());
}

}  // namespace
}  // namespace hone
