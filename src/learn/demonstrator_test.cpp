#include "learn/demonstrator.h"

#include <gtest/gtest.h>

#include "rewards/labels.h"
#include "support/tiny_workshop.h"

namespace hone {
namespace {

TEST(Demonstrator, AShowIsAFunctionOfSeedAndNumber) {
  TinyWorkshop tiny({"environment.tasks.kinds=[]"});
  const auto show = [&](uint64_t seed, uint64_t number) {
    Demonstrator one({.agent = "teacher"}, &tiny.shop->environment, tiny.shop->real->executor(),
                     seed);
    return DumpJson(MessagesOf(one.Show(number)->played));
  };
  EXPECT_EQ(show(1, 5), show(1, 5));
  EXPECT_NE(show(1, 5), show(1, 6));
  int different = 0;
  for (uint64_t i = 0; i < 10; ++i) different += show(1, i) != show(2, i) ? 1 : 0;
  EXPECT_GT(different, 0) << "teachers err differently";
}

TEST(Demonstrator, GoldAlwaysSucceedsAndOnlyThoseOfFullRewardCanBeAskedFor) {
  TinyWorkshop tiny({"environment.tasks.kinds=[]"});
  Executor* executor = tiny.shop->real->executor();
  Demonstrator gold({.agent = "gold"}, &tiny.shop->environment, executor, 1);
  Demonstrator sloppy({.agent = "teacher", .teacher_error = 1.0, .successful_only = true},
                      &tiny.shop->environment, executor, 1);
  int left_out = 0, wasteful = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(gold.Show(i)->played.success());
    const auto tree = sloppy.ShowTree(i, *tiny.shop->language.codec);
    ASSERT_TRUE(tree.ok()) << tree.error().message();
    const Demonstrator::Shown shown = sloppy.Show(i).value();
    const auto needed = static_cast<int64_t>(LabelsOf(shown.task)->calls->calls.size());
    const bool wasted = shown.played.CountCalls() > needed;
    EXPECT_EQ(tree->has_value(), shown.played.success() && !wasted);
    left_out += shown.played.success() ? 0 : 1;
    wasteful += shown.played.success() && wasted ? 1 : 0;
  }
  EXPECT_GT(left_out, 0);
  EXPECT_GT(wasteful, 0) << "or nothing is tested";
}

}  // namespace
}  // namespace hone
