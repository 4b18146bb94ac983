#include "evaluate/pass_at_k.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

void Add(const std::string& task, const std::vector<int>& outcomes, std::vector<Measures>* out) {
  for (const int outcome : outcomes) {
    Measures& m = out->emplace_back();
    m.task = task;
    m.counts = outcome >= 0;
    if (m.counts) m.success = outcome == 1;
  }
}

TEST(PassAtKTest, IsTheMeanOverAllWaysToChoose) {
  std::vector<Measures> measures;
  Add("half", {1, 0, 1, 0}, &measures);
  Add("all", {1, 1, 1, 1}, &measures);
  Add("none", {0, 0, 0, 0}, &measures);
  const auto passes = PassesOf(measures, 4, Rng(1), {.resamples = 200});
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[0].k, 1);
  EXPECT_EQ(passes[1].k, 2);
  EXPECT_EQ(passes[2].k, 4);
  EXPECT_DOUBLE_EQ(passes[0].one->value, 0.5);
  EXPECT_DOUBLE_EQ(passes[0].every->value, 0.5);
  // Of the six pairs of "half" five have a good one, and one has two.
  EXPECT_DOUBLE_EQ(passes[1].one->value, (5.0 / 6 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(passes[1].every->value, (1.0 / 6 + 1 + 0) / 3);
  EXPECT_DOUBLE_EQ(passes[2].one->value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(passes[2].every->value, 1.0 / 3);
  EXPECT_LT(passes[2].every->low, 1.0 / 3);
}

TEST(PassAtKTest, TasksThatLostTrajectoriesCountWhereEnoughAreLeft) {
  std::vector<Measures> measures;
  Add("whole", {1, 0, 0}, &measures);
  Add("broken", {1, -1, -1}, &measures);
  const auto passes = PassesOf(measures, 3, Rng(1), {.resamples = 20});
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[0].tasks, 2);
  EXPECT_EQ(passes[2].tasks, 1);
  EXPECT_DOUBLE_EQ(passes[2].one->value, 1);
  std::vector<Measures> gone;
  Add("gone", {-1, -1}, &gone);
  EXPECT_FALSE(PassesOf(gone, 2, Rng(1))[1].one) << "nothing to count is not 0";
  EXPECT_TRUE(ToJson(PassesOf(gone, 2, Rng(1))).AsArray()[1].Find("one")->is_null());
}

}  // namespace
}  // namespace hone
