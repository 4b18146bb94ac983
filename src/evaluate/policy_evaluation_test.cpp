#include "evaluate/policy_evaluation.h"

#include <gtest/gtest.h>

#include "support/desk_policy.h"

namespace hone {
namespace {

TEST(PolicyEvaluation, MeasuresEveryTaskOnceTheSameEachTime) {
  DeskPolicy desk({.tasks = 4, .steps = 40});
  const LoadedEnvironment environment = NewBuiltIn("desk").value();
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *environment.environment->tools(), timeline.get()).value(),
                    timeline.get());
  const Policy policy = desk.Make();
  const EvaluationOptions options{.split = Split::kTrain, .tasks = 6};
  const Result<Evaluation> one = EvaluatePolicy(options, environment, policy, &executor);
  ASSERT_TRUE(one.ok()) << one.error().message();
  EXPECT_EQ(one->tasks, 6);
  EXPECT_EQ(one->all.trajectories + one->broken, 6);
  int64_t families = 0;
  for (const auto& [family, conduct] : one->by_family) families += conduct.trajectories;
  EXPECT_EQ(families, one->all.trajectories);
  const Result<Evaluation> two = EvaluatePolicy(options, environment, policy, &executor);
  ASSERT_TRUE(two.ok()) << two.error().message();
  EXPECT_EQ(one->all.ToJson(), two->all.ToJson());
  const Result<Evaluation> other = EvaluatePolicy({.split = Split::kTrain, .tasks = 6, .seed = 9},
                                                  environment, policy, &executor);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(one->all.ToJson(), other->all.ToJson()) << "the seed is of what is drawn";
}

TEST(PolicyEvaluation, ASplitWithoutTasksIsAnError) {
  DeskPolicy desk({.tasks = 2});
  LoadedEnvironment environment = NewBuiltIn("desk").value();
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *environment.environment->tools(), timeline.get()).value(),
                    timeline.get());
  const auto none = EvaluatePolicy({.tasks = 0}, environment, desk.Make(), &executor);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hone
