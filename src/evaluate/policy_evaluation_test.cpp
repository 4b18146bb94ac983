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
  ASSERT_EQ(one->measures.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(one->measures[i].task, environment.tasks->Make(Split::kTrain, i).id);
  }
  for (const auto& groups : {one->ByFamily(), one->ByKind()}) {
    size_t trajectories = 0;
    for (const auto& [name, measures] : groups) trajectories += measures.size();
    EXPECT_EQ(trajectories, 6u);
  }
  const Result<Evaluation> two = EvaluatePolicy(options, environment, policy, &executor);
  ASSERT_TRUE(two.ok()) << two.error().message();
  EXPECT_EQ(one->measures, two->measures);
  const Result<Evaluation> other = EvaluatePolicy({.split = Split::kTrain, .tasks = 6, .seed = 9},
                                                  environment, policy, &executor);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(one->measures, other->measures) << "the seed is of what is drawn";
}

TEST(PolicyEvaluation, WithoutToolsTheSameTasksAreDoneWithoutACall) {
  DeskPolicy desk({.tasks = 4, .least_calls = 1, .steps = 80});
  const LoadedEnvironment environment = NewBuiltIn("desk").value();
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *environment.environment->tools(), timeline.get()).value(),
                    timeline.get());
  EvaluationOptions options{.split = Split::kTrain, .tasks = 6};
  const Evaluation with = EvaluatePolicy(options, environment, desk.Make(), &executor).value();
  options.without_tools = true;
  const Evaluation without = EvaluatePolicy(options, environment, desk.Make(), &executor).value();
  ASSERT_EQ(with.measures.size(), without.measures.size());
  int64_t calls = 0;
  for (size_t i = 0; i < with.measures.size(); ++i) {
    EXPECT_EQ(with.measures[i].task, without.measures[i].task);
    EXPECT_EQ(without.measures[i].calls, 0);
    calls += with.measures[i].calls;
  }
  EXPECT_GT(calls, 0);
  EXPECT_EQ(with.ToJson().Find("without_tools"), nullptr);
  EXPECT_EQ(*without.ToJson().Find("without_tools"), Json(true));
}

TEST(PolicyEvaluation, SaysForEveryTrajectoryHowItEndedAndWhatItCalled) {
  Evaluation evaluation{.tasks = 4, .samples = 1};
  const auto add = [&](std::optional<bool> success, int64_t calls, bool counts) {
    Measures& m = evaluation.measures.emplace_back();
    m.task = std::to_string(evaluation.measures.size());
    m.family = "A";
    m.kind = calls > 1 ? "many" : "few";
    m.success = success;
    m.calls = calls;
    m.counts = counts;
  };
  add(true, 2, true);
  add(false, 0, true);
  add(std::nullopt, 1, false);
  add(std::nullopt, 3, true);
  const Json json = evaluation.ToJson();
  EXPECT_EQ(json.Find("outcomes")->AsString(), "10--");
  EXPECT_EQ(DumpJson(*json.Find("calls_by_task")), "[2,0,1,3]");
  EXPECT_EQ(json.Find("broken")->AsInteger(), 1);
  EXPECT_EQ(json.Find("all")->Find("trajectories")->AsInteger(), 3);
  EXPECT_EQ(json.Find("all")->Find("success")->AsDouble(), 0.5) << "no verdict is no failure";
  EXPECT_EQ(json.Find("all")->Find("which"), nullptr) << "nothing to count is no 0";
  EXPECT_EQ(json.Find("kinds")->Find("many")->Find("success")->AsDouble(), 1);
  EXPECT_EQ(json.Find("families")->Find("A")->Find("calls_per_task")->AsDouble(), 5.0 / 3);
  EXPECT_EQ(json.Find("figures")->Find("calls")->Find("trajectories")->AsInteger(), 3);
}

TEST(PolicyEvaluation, SeveralTrajectoriesOfATaskStandTogetherTheFirstAsItWouldBeAlone) {
  DeskPolicy desk({.tasks = 4, .steps = 40});
  const LoadedEnvironment environment = NewBuiltIn("desk").value();
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *environment.environment->tools(), timeline.get()).value(),
                    timeline.get());
  int64_t told = 0;
  const auto three = EvaluatePolicy({.split = Split::kTrain,
                                     .tasks = 2,
                                     .samples = 3,
                                     .progress =
                                         [&](int64_t ended, int64_t wanted) {
                                           told = ended;
                                           EXPECT_EQ(wanted, 6);
                                         }},
                                    environment, desk.Make(), &executor);
  ASSERT_TRUE(three.ok()) << three.error().message();
  EXPECT_EQ(told, 6);
  ASSERT_EQ(three->measures.size(), 6u);
  EXPECT_EQ(three->measures[0].task, three->measures[2].task);
  EXPECT_NE(three->measures[0].task, three->measures[3].task);
  const auto one =
      EvaluatePolicy({.split = Split::kTrain, .tasks = 2}, environment, desk.Make(), &executor);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->measures[1].tokens, three->measures[3].tokens);
}

TEST(PolicyEvaluation, WhereNoTaskCanEvenBeginNothingIsMeasured) {
  struct Nonsense final : TaskSource {
    std::optional<uint64_t> count(Split) const override { return 2; }
    Task Make(Split, uint64_t index) const override { return {.id = std::to_string(index)}; }
  };
  DeskPolicy desk({.tasks = 2});
  LoadedEnvironment environment = NewBuiltIn("desk").value();
  environment.tasks = std::make_shared<Nonsense>();
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *environment.environment->tools(), timeline.get()).value(),
                    timeline.get());
  const auto none = EvaluatePolicy({.tasks = 2}, environment, desk.Make(), &executor);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message().find("none of 2 tasks of dev could be done"), std::string::npos)
      << none.error().message();
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
