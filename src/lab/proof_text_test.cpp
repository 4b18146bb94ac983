#include "lab/proof_text.h"

#include <gtest/gtest.h>

#include "support/proof_runs.h"

namespace hone {
namespace {

Proof Sample() {
  static const ProofRuns made(
      {{2, {800, 400, 900, 450, 800, 500}}, {4, {3000, 1000, 0, 1100, 3000, 1500}}});
  return MakeProof(made.sections, made.predictions).value();
}

TEST(ProofText, TheSentencesSayWhatTheIntervalsShow) {
  const std::vector<std::string> sentences = ProofSentences(Sample());
  ASSERT_EQ(sentences.size(), 8u);
  EXPECT_NE(sentences[0].find("changes success on dev over the run by +"), std::string::npos)
      << sentences[0];
  EXPECT_TRUE(sentences[0].ends_with("points (real tools): higher.")) << sentences[0];
  EXPECT_NE(sentences[1].find("change test success at the end by -1."), std::string::npos)
      << sentences[1];
  EXPECT_TRUE(
      sentences[2].starts_with("Credit on the calls instead of smeared, real tools: fewer "
                               "trajectories to the goal at 2 and 4 calls"))
      << sentences[2];
  EXPECT_NE(sentences[2].find("Test success at the end: higher at 2 and 4 calls."),
            std::string::npos)
      << sentences[2];
}

TEST(ProofText, WhereTheGoalWasNotReachedThatIsSaidAndFewSeedsShowNothing) {
  ProofRuns made({{2, {800, 400, 900, 450, 800, 500}}, {8, {0, 0, 0, 0, 0, 0}}});
  std::string first = ProofSentences(MakeProof(made.sections, made.predictions).value())[2];
  EXPECT_NE(first.find("fewer trajectories to the goal at 2 calls; not told, because half of the "
                       "runs or more did not reach the goal, at 8 calls. Success on dev over the "
                       "run: higher at 2 calls; no effect shown at 8 calls"),
            std::string::npos)
      << first;
  // Four seeds of four are no evidence for the sign test.
  for (ComparedArm& arm : made.sections[0].arms) arm.runs.resize(4);
  first = ProofSentences(MakeProof(made.sections, made.predictions).value())[2];
  EXPECT_NE(first.find("real tools: no effect shown at 2 calls"), std::string::npos) << first;
}

TEST(ProofText, WhatSimulatedToolsCostIsHeldAgainstTheMargin) {
  const std::pair<Interval, const char*> cases[] = {
      {{0.00, -0.02, 0.02}, "as well, within 3 points."},
      {{0.06, 0.04, 0.08}, "no worse, within 3 points."},
      {{-0.10, -0.12, -0.08}, "worse by more than 3 points."},
      {{-0.01, -0.04, 0.02}, "whether within 3 points is not shown."}};
  for (const auto& [interval, verdict] : cases) {
    Proof proof;
    PooledEffect& effect = proof.pooled.emplace_back();
    effect.without = ProofRole::kAttributedReal;
    effect.with = ProofRole::kAttributedSimulated;
    effect.success = {.mean = interval, .has_interval = true, .more = 5};
    ASSERT_EQ(ProofSentences(proof).size(), 1u);
    EXPECT_TRUE(ProofSentences(proof)[0].ends_with(verdict)) << ProofSentences(proof)[0];
  }
}

TEST(ProofText, WithoutRunsNothingIsClaimed) {
  EXPECT_TRUE(ProofSentences({}).empty());
  Proof proof = Sample();
  for (ProofRow& row : proof.rows) row.effects.clear();
  proof.pooled.clear();
  EXPECT_TRUE(ProofSentences(proof).empty());
}

TEST(ProofText, TheReportHasTheTablesAndTheLaboratoryBesideTheMeasurement) {
  const std::string text = ProofMarkdown(Sample());
  for (const char* part : {"## What was found", "laboratory", "1.50", "more than ", "later than ",
                           "Calls per task of test at the end", "All lengths together"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string html = ProofHtml(Sample());
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("laboratory and measurement"), std::string::npos);
}

TEST(ProofText, ThePredictionStandsAlone) {
  const ProofRuns made({{2, {800, 400, 900, 450, 800, 500}}});
  const std::string text = PredictionMarkdown(made.predictions, {});
  EXPECT_NE(text.find("trajectories, smeared / attributed"), std::string::npos);
  EXPECT_NE(text.find("1.50"), std::string::npos) << text;
}

}  // namespace
}  // namespace hone
