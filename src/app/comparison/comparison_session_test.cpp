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

TEST(ComparisonSession, AReportNeedsNoModelAndSaysWhatTheLedgerHasOfOtherRecipes) {
  const TemporaryDirectory folder;
  const std::filesystem::path recipe = folder.path() / "tiny.toml";
  ASSERT_TRUE(WriteFileAtomic(recipe, TinyRecipe("runs")).ok());
  const std::string model = "model={dialect='template', folder='/nowhere/model'}";
  ComparisonFile comparison =
      ReadComparison({.files = {recipe.string()}, .seeds = 2, .set = {model}}).value();
  SessionOptions options{.out = folder.path() / "out",
                         .report_only = true,
                         .ledger = (folder.path() / "ledger.jsonl").string()};
  const auto nothing = CarryOutComparison(comparison, options);
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code(), ErrorCode::kNotFound) << nothing.error().message();
  comparison.use = RecipeUse::kToReport;
  ComparisonLedger ledger = ComparisonLedger::Open(options.ledger).value();
  for (const PlannedRun& run : PlanRuns(comparison, options.out).value()) {
    ComparedRun record = ReadComparedRun(comparison, run);
    record.status = ComparedRun::Status::kFinished;
    ASSERT_TRUE(ledger.Keep(comparison, run, record).ok());
  }
  const auto kept = CarryOutComparison(comparison, options);
  ASSERT_TRUE(kept.ok()) << kept.error().message();
  EXPECT_EQ(kept->records.size(), 2u);
  EXPECT_TRUE(kept->notes.empty());
  // Of another recipe they are not runs that were never made.
  ComparisonFile changed =
      ReadComparison({.files = {recipe.string()}, .seeds = 2, .set = {model, "stage.1.steps=9"}})
          .value();
  const auto others = CarryOutComparison(changed, options);
  ASSERT_FALSE(others.ok());
  EXPECT_NE(others.error().message().find("tiny: the ledger has runs of it (seed 1, 2) that are "
                                          "left out: their recipe, its [evaluation] or the files"),
            std::string::npos)
      << others.error().message();
  changed = comparison;
  changed.arms[0].changes.push_back("stage.0.data=['/nowhere/chats.jsonl']");
  const auto without = CarryOutComparison(changed, options);
  ASSERT_FALSE(without.ok());
  const std::string& message = without.error().message();
  EXPECT_TRUE(message.starts_with("tiny: ")) << message;
  EXPECT_NE(message.find("/nowhere/chats.jsonl"), std::string::npos) << message;
  EXPECT_NE(message.find("A run is known by what is in the files that its recipe names"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace hone
