#include "envs/service/service_tasks.h"

#include <gtest/gtest.h>

#include <set>

#include "envs/service/goals.h"
#include "record/record_json.h"

namespace hone::service {
namespace {

TEST(ServiceTasksTest, TheSameNumberIsTheSameTask) {
  const auto first = NewTaskSource({}), second = NewTaskSource({});
  for (const Split split : kAllSplits) {
    for (uint64_t i = 0; i < 20; ++i) {
      EXPECT_EQ(DumpJson(TaskToJson(first->Make(split, i))),
                DumpJson(TaskToJson(second->Make(split, i))));
    }
  }
}

TEST(ServiceTasksTest, EveryKindOfGoalOccurs) {
  const auto tasks = NewTaskSource({});
  std::set<std::string> kinds;
  int two = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    for (const Split split : {Split::kTrain, Split::kUnseenKinds}) {
      const Task task = tasks->Make(split, i);
      const Json::Array& goals = task.metadata.Find("user")->Find("goals")->AsArray();
      for (const Json& goal : goals) kinds.insert(goal.Find("kind")->AsString());
      two += goals.size() == 2;
    }
  }
  EXPECT_EQ(kinds.size(), GoalKinds().size());
  EXPECT_NEAR(two, 125, 40) << "three in ten of the training tasks, without corrections";
}

TEST(ServiceTasksTest, SplitsAreApart) {
  const std::vector<std::string> problems = SplitProblems(*NewTaskSource({}), 500);
  EXPECT_TRUE(problems.empty()) << problems[0];
}

TEST(ServiceTasksTest, OptionsAreChecked) {
  TaskOptions options;
  options.kinds = {"cancl"};
  EXPECT_EQ(CheckTaskOptions(options).error().message(),
            "kinds: no kind \"cancl\" (did you mean \"cancel\"?)");
  options = {};
  options.max_goals = 3;
  EXPECT_FALSE(CheckTaskOptions(options).ok());
  options.max_goals = 1;
  const auto tasks = NewTaskSource(options);
  for (uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(tasks->Make(Split::kTrain, i).metadata.Find("user")->Find("goals")->AsArray().size(),
              1u);
  }
}

}  // namespace
}  // namespace hone::service
