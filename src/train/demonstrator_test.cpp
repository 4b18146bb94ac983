#include "train/demonstrator.h"

#include <set>

#include <gtest/gtest.h>

#include "rewards/labels.h"
#include "support/tiny_context.h"

namespace hone {
namespace {

TEST(Demonstrator, AShowIsAFunctionOfSeedAndNumber) {
  TinyContext tiny({"environment.tasks.kinds=[]"});
  const auto show = [&](uint64_t seed, uint64_t number) {
    Demonstrator one({.agent = "teacher"}, &tiny.context->environment,
                     tiny.context->real->executor(), seed);
    return DumpJson(MessagesOf(one.Show(number)->played));
  };
  EXPECT_EQ(show(1, 5), show(1, 5));
  EXPECT_NE(show(1, 5), show(1, 6));
  int different = 0;
  for (uint64_t i = 0; i < 10; ++i) different += show(1, i) != show(2, i) ? 1 : 0;
  EXPECT_GT(different, 0) << "teachers err differently";
}

// So many tasks and no more; remembers which were asked for.
class ListedTasks final : public TaskSource {
 public:
  ListedTasks(std::shared_ptr<const TaskSource> tasks, uint64_t count)
      : tasks_(std::move(tasks)), count_(count) {}
  std::optional<uint64_t> count(Split /*split*/) const override { return count_; }
  Task Make(Split split, uint64_t index) const override {
    asked.insert(index);
    return tasks_->Make(split, index);
  }
  mutable std::set<uint64_t> asked;

 private:
  const std::shared_ptr<const TaskSource> tasks_;
  const uint64_t count_;
};

TEST(Demonstrator, InThePlaceOfOneThatEndedBadlyComesAnotherTask) {
  TinyContext tiny({"environment.tasks.kinds=[]"});
  const auto listed = std::make_shared<ListedTasks>(tiny.context->environment.tasks, 64);
  LoadedEnvironment environment = tiny.context->environment;
  environment.tasks = listed;
  Demonstrator sloppy({.agent = "teacher", .teacher_error = 1.0, .successful_only = true},
                      &environment, tiny.context->real->executor(), 1);
  for (uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(sloppy.WantedTree(8 * i, *tiny.context->language.codec).ok());
  }
  EXPECT_GT(listed->asked.size(), 8u);
}

TEST(Demonstrator, GoldAlwaysSucceedsAndOnlyThoseOfFullRewardCanBeAskedFor) {
  TinyContext tiny({"environment.tasks.kinds=[]"});
  Executor* executor = tiny.context->real->executor();
  Demonstrator gold({.agent = "gold"}, &tiny.context->environment, executor, 1);
  Demonstrator sloppy({.agent = "teacher", .teacher_error = 1.0, .successful_only = true},
                      &tiny.context->environment, executor, 1);
  int left_out = 0, wasteful = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(gold.Show(i)->played.success());
    const auto tree = sloppy.ShowTree(i, *tiny.context->language.codec);
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
