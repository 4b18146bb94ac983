#include "rewards/thought_length.h"

#include <gtest/gtest.h>

#include "record/reward_terms.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

// An answer whose turn thinks so many of its five tokens; 0: not at all.
void Answer(TreeMaker* maker, const std::string& text, int32_t thinks) {
  maker->Begin().Answer(text);
  if (thinks > 0) maker->tree.nodes.back().thoughts = {{0, thinks}};
}

std::vector<std::optional<double>> Values(const Tree& tree, const ThoughtPay& pay,
                                          const char* name) {
  const auto scores = NewThoughtLength(pay)->ScoreTree(tree, {}).value();
  std::vector<std::optional<double>> values;
  for (const Score& score : scores) {
    std::optional<double>& value = values.emplace_back();
    for (const RewardTerm& term : score.terms) {
      if (term.name == name) value = term.value;
    }
  }
  return values;
}

using Told = std::vector<std::optional<double>>;

TEST(ThoughtLength, IsFreeUpToTheBufferAndThenCostsMoreAndMore) {
  const ThoughtPay pay{.most = 10, .buffer = 4};
  EXPECT_EQ(OverlongThought(0, pay), 0);
  EXPECT_EQ(OverlongThought(6, pay), 0);
  EXPECT_EQ(OverlongThought(7, pay), -0.25);
  EXPECT_EQ(OverlongThought(10, pay), -1);
  EXPECT_EQ(OverlongThought(1000, pay), -1) << "no limit ended it, so it is not to be unbounded";
}

TEST(ThoughtLength, CountsThoughtsAlone) {
  TreeMaker maker;
  Answer(&maker, "x", 0);
  Answer(&maker, "x", 2);
  Answer(&maker, "x", 4);
  maker.Begin().Call("f");
  maker.tree.nodes[maker.tree.nodes.size() - 2].thoughts = {{0, 2}};
  maker.Answer("x");
  maker.tree.nodes.back().thoughts = {{0, 1}};
  const ThoughtPay pay{.most = 4, .buffer = 2, .overlong = 0.5};
  EXPECT_EQ(Values(maker.tree, pay, kOverlongThoughtTerm), (Told{0, 0, -0.5, -0.25}));
  EXPECT_EQ(Values(maker.tree, pay, kShortThoughtTerm), Told(4)) << "it is not asked for";
}

TEST(ThoughtLength, ShorterAmongRightSiblingsIsPaid) {
  TreeMaker maker;
  maker.tree.task.answer = "x";
  Answer(&maker, "x", 1);
  Answer(&maker, "x", 2);
  Answer(&maker, "x", 5);
  Answer(&maker, "y", 0);  // the shortest of all is wrong
  EXPECT_EQ(Values(maker.tree, {.shorter = 2}, kShortThoughtTerm), (Told{2, 1.5, 0, 0}));
}

TEST(ThoughtLength, NothingIsPaidWhereThereIsNothingToCompare) {
  TreeMaker maker;
  maker.tree.task.answer = "x";
  Answer(&maker, "x", 3);
  Answer(&maker, "y", 1);
  EXPECT_EQ(Values(maker.tree, {.shorter = 1}, kShortThoughtTerm), (Told{0, 0}));
  Answer(&maker, "x", 3);
  EXPECT_EQ(Values(maker.tree, {.shorter = 1}, kShortThoughtTerm), (Told{0, 0, 0}));
  maker.tree.task.answer = Json();
  EXPECT_EQ(Values(maker.tree, {.shorter = 1}, kShortThoughtTerm), Told(3))
      << "nobody says what is right";
}

}  // namespace
}  // namespace hone
