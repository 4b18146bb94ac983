#include "text/vocabulary/splitter.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Pieces = std::vector<std::string>;

Pieces PiecesOf(std::vector<SplitStep> steps, std::string_view text) {
  Pieces pieces;
  Splitter(std::move(steps)).Split(text, [&](std::string_view piece) {
    pieces.emplace_back(piece);
  });
  return pieces;
}

SplitStep Step(std::string_view expression, SplitBehavior behavior, bool invert = false) {
  return {Pattern::Compile(expression).value(), behavior, invert};
}

Pieces Dashes(SplitBehavior behavior) {
  std::vector<SplitStep> steps;
  steps.push_back(Step("-", behavior));
  return PiecesOf(std::move(steps), "the-final--countdown");
}

// The example of Hugging Face's documentation of SplitDelimiterBehavior.
TEST(Splitter, BehavesAsTokenizersDocuments) {
  EXPECT_EQ(Dashes(SplitBehavior::kRemoved), (Pieces{"the", "final", "countdown"}));
  EXPECT_EQ(Dashes(SplitBehavior::kIsolated), (Pieces{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(Dashes(SplitBehavior::kMergedWithPrevious),
            (Pieces{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(Dashes(SplitBehavior::kMergedWithNext), (Pieces{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(Dashes(SplitBehavior::kContiguous), (Pieces{"the", "-", "final", "--", "countdown"}));
}

TEST(Splitter, StepsFollowOneAnother) {
  std::vector<SplitStep> steps;
  steps.push_back(Step(R"(\s)", SplitBehavior::kIsolated));
  steps.push_back(Step(R"(\p{N})", SplitBehavior::kIsolated));
  EXPECT_EQ(PiecesOf(std::move(steps), "a12 b"), (Pieces{"a", "1", "2", " ", "b"}));
}

TEST(Splitter, AnInvertedPatternKeepsTheMatches) {
  std::vector<SplitStep> steps;
  steps.push_back(Step(R"(\w+)", SplitBehavior::kRemoved, true));
  EXPECT_EQ(PiecesOf(std::move(steps), "ab, cd"), (Pieces{"ab", "cd"}));
}

TEST(Splitter, APrefixSpaceIsPutBeforeAPieceThatHasNone) {
  std::vector<SplitStep> steps;
  steps.push_back(Step(kGpt2Split, SplitBehavior::kIsolated));
  steps[0].prefix = SplitStep::Prefix::kAlways;
  EXPECT_EQ(PiecesOf(std::move(steps), "a b"), (Pieces{" a", " b"}));
}

TEST(Splitter, QwenCutsDigitsOneByOneAndGpt2DoesNot) {
  std::vector<SplitStep> qwen, gpt2;
  qwen.push_back(Step(kQwen2Split, SplitBehavior::kIsolated));
  gpt2.push_back(Step(kGpt2Split, SplitBehavior::kIsolated));
  EXPECT_EQ(PiecesOf(std::move(qwen), "in 1999!\n\n  x"),
            (Pieces{"in", " ", "1", "9", "9", "9", "!\n\n", " ", " x"}));
  EXPECT_EQ(PiecesOf(std::move(gpt2), "in 1999!\n\n  x"),
            (Pieces{"in", " 1999", "!", "\n\n ", " x"}));
}

}  // namespace
}  // namespace hone
