// Answer matching against every label of the public data: GSM8K's graded solutions, MATH's
// equivalence cases, and the gold answers of the question-answering sets.

#include <gtest/gtest.h>

#include "base/file.h"
#include "rewards/matching/answer.h"
#include "support/shared_data.h"

namespace hone {
namespace {

std::vector<Json> Rows(const std::filesystem::path& file) {
  const auto text = ReadFile(file);
  EXPECT_TRUE(text.ok());
  auto rows = ParseJsonLines(*text);
  EXPECT_TRUE(rows.ok());
  return rows.ok() ? *rows : std::vector<Json>();
}

TEST(AnswerData, Gsm8kSolutionsAreGradedAsLabelled) {
  HONE_NEED_SHARED(file, "data/gsm8k/example_model_solutions.jsonl");
  int labels = 0;
  for (const Json& row : Rows(file)) {
    for (const auto& [model, solution] : row.AsObject()) {
      const Json* label = solution.Find("is_correct");
      if (label == nullptr) continue;
      ++labels;
      const auto match =
          MatchAnswer(AnswerKind::kGsm8k, *solution.Find("solution"), *row.Find("ground_truth"));
      ASSERT_TRUE(match.ok());
      EXPECT_EQ(match->match, label->AsBool()) << model << ": " << DumpJson(row);
    }
  }
  EXPECT_EQ(labels, 1600);
}

TEST(AnswerData, EveryGsm8kAnswerIsItsOwnAndNotItsNeighbours) {
  for (const char* name : {"data/gsm8k/test.jsonl", "data/gsm8k/train_600.jsonl"}) {
    HONE_NEED_SHARED(file, name);
    const std::vector<Json> rows = Rows(file);
    for (size_t i = 0; i < rows.size(); ++i) {
      const Json& gold = *rows[i].Find("answer");
      const std::string& text = gold.AsString();
      const std::string final_number = text.substr(text.rfind("####") + 4);
      EXPECT_TRUE(MatchAnswer(AnswerKind::kGsm8k, final_number, gold)->match) << text;
      EXPECT_TRUE(MatchAnswer(AnswerKind::kNumber, final_number, final_number)->match) << text;
      EXPECT_FALSE(MatchAnswer(AnswerKind::kGsm8k, final_number + "1", gold)->match) << text;
    }
  }
}

TEST(AnswerData, MathEquivalenceIsAsLabelled) {
  HONE_NEED_SHARED(file, "data/math-qa/math_equivalence_cases.jsonl");
  const std::vector<Json> rows = Rows(file);
  EXPECT_EQ(rows.size(), 824u);
  for (const Json& row : rows) {
    const auto match = MatchAnswer(AnswerKind::kMath, *row.Find("prediction"), *row.Find("answer"));
    ASSERT_TRUE(match.ok());
    EXPECT_EQ(match->match, row.Find("equal")->AsBool()) << DumpJson(row);
  }
}

TEST(AnswerData, MathAnswersAreTheirOwnInABox) {
  HONE_NEED_SHARED(file, "data/math-qa/math500.jsonl");
  for (const Json& row : Rows(file)) {
    const Json& gold = *row.Find("answer");
    EXPECT_TRUE(MatchAnswer(AnswerKind::kMath, "so \\boxed{" + gold.AsString() + "}.", gold)->match)
        << DumpJson(row);
  }
}

TEST(AnswerData, QuestionAnsweringAcceptsEveryGoldHoweverItIsDressed) {
  for (const char* name : {"data/math-qa/hotpotqa.jsonl", "data/math-qa/2wiki.jsonl",
                           "data/math-qa/musique.jsonl", "data/math-qa/bamboogle.jsonl"}) {
    HONE_NEED_SHARED(file, name);
    for (const Json& row : Rows(file)) {
      const Json& gold = *row.Find("answer");
      for (const Json& accepted : gold.AsArray()) {
        const auto dressed =
            MatchAnswer(AnswerKind::kQaF1, "The " + accepted.AsString() + "!", gold);
        EXPECT_EQ(*dressed, (AnswerMatch{true, 1})) << DumpJson(row);
        const auto longer =
            MatchAnswer(AnswerKind::kQaExact, accepted.AsString() + " perhaps", gold);
        EXPECT_FALSE(longer->match) << DumpJson(row);
      }
    }
  }
}

}  // namespace
}  // namespace hone
