#include "learn/imitation_check.h"

#include <gtest/gtest.h>

#include "learn/sft.h"
#include "support/desk_policy.h"

namespace hone {
namespace {

std::vector<Tree> Demonstrations(const DeskPolicy& desk) {
  std::vector<Tree> trees;
  for (size_t i = 0; i < desk.tasks().size(); ++i) {
    trees.push_back(
        DemonstrationTree(desk.codec(), desk.tasks()[i], 1, desk.demonstrations()[i]).value());
  }
  return trees;
}

TEST(ImitationCheckTest, TheLossIsWhatTrainingWouldReport) {
  DeskPolicy desk({.tasks = 6});
  const std::vector<Tree> trees = Demonstrations(desk);
  std::vector<Tree> bare;
  std::vector<size_t> order;
  for (const Tree& tree : trees) {
    order.push_back(bare.size());
    bare.push_back(ForImitation(tree));
  }
  const SftMetrics metrics = AccumulateSft({}, bare, {order}, &desk.engine());
  desk.engine().ForgetGradients();
  const Policy policy = desk.Make();
  for (const int64_t call_tokens : {int64_t{1}, int64_t{16'384}}) {
    const ImitationFigures figures = MeasureImitation(policy, trees, call_tokens, 100).value();
    EXPECT_NEAR(figures.loss, metrics.policy_loss, 1e-5);
    EXPECT_EQ(figures.tokens, metrics.policy_tokens);
  }
}

TEST(ImitationCheckTest, AModelThatKnowsThemByHeartCallsTheSame) {
  DeskPolicy desk({.tasks = 4, .steps = 120});
  const std::vector<Tree> trees = Demonstrations(desk);
  const ImitationFigures known = MeasureImitation(desk.Make(), trees, 16'384, 100).value();
  EXPECT_GT(known.calling + known.answering, 4);
  EXPECT_EQ(known.right_calls, known.calling);
  EXPECT_EQ(known.right_tools, known.calling);
  EXPECT_EQ(known.without_calls, known.answering);

  DeskPolicy fresh({.tasks = 4});
  const ImitationFigures unknown = MeasureImitation(fresh.Make(), trees, 16'384, 2).value();
  EXPECT_EQ(unknown.calling + unknown.answering, 2);  // no more were asked for
  EXPECT_LT(unknown.right_calls, std::max<int64_t>(unknown.calling, 1));
}

TEST(ImitationFiguresTest, TwoSetsAddUpToWhatBothSay) {
  ImitationFigures one{.loss = 2, .tokens = 1, .bytes = 4, .calling = 3, .right_calls = 1};
  one.Add({.loss = 1, .tokens = 3, .bytes = 6, .answering = 2, .same_answers = 1});
  EXPECT_DOUBLE_EQ(one.loss, 1.25);  // per token, not per set
  EXPECT_EQ(one.tokens, 4);
  EXPECT_EQ(one.calling, 3);
  EXPECT_EQ(one.same_answers, 1);
  EXPECT_DOUBLE_EQ(one.BitsPerByte(), 5 / 0.69314718055994531 / 10);
  EXPECT_EQ(ImitationFigures{}.BitsPerByte(), 0);
}

}  // namespace
}  // namespace hone
