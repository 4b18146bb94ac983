// Gold plans of a thousand tasks succeed, and agents that know nothing score what the documentation
// of the environment states (docs/environments/*.md).

#include <gtest/gtest.h>

#include "envs/agents.h"
#include "envs/environments.h"
#include "envs/task_source.h"
#include "support/env_player.h"

namespace hone {
namespace {

constexpr uint64_t kTasks = 1000;

struct Baseline {
  std::string environment;
  double random = 0, idle = 0, always_call = 0;  // per cent of the test split
};

class BaselinesTest : public testing::TestWithParam<Baseline> {
 protected:
  BaselinesTest()
      : loaded_(NewBuiltIn(GetParam().environment).value()), player_(loaded_.environment) {}

  template <typename NewAgent>
  double Score(Split split, NewAgent new_agent) {
    int right = 0;
    for (uint64_t i = 0; i < kTasks; ++i) {
      const Task task = loaded_.tasks->Make(split, i);
      right += player_.Run(task, new_agent(task, i)).success() ? 1 : 0;
    }
    return 100.0 * right / kTasks;
  }

  LoadedEnvironment loaded_;
  EnvPlayer player_;
};

TEST_P(BaselinesTest, GoldPlansSucceedOnAllSplits) {
  for (const Split split : kAllSplits) {
    if (loaded_.tasks->count(split) == 0u) continue;
    EXPECT_EQ(Score(split, [&](const Task& task, uint64_t) { return *loaded_.gold_agent(task); }),
              100)
        << SplitName(split);
  }
}

TEST_P(BaselinesTest, AgentsThatKnowNothingScoreWhatIsStated) {
  const Json tools = VisibleTools(*loaded_.environment);
  EXPECT_NEAR(
      Score(Split::kTest,
            [&](const Task&, uint64_t i) { return NewRandomAgent(tools, Rng(1).Split(i)); }),
      GetParam().random, 0.05);
  EXPECT_NEAR(Score(Split::kTest, [](const Task&, uint64_t) { return NewIdleAgent(); }),
              GetParam().idle, 0.05);
  EXPECT_NEAR(
      Score(Split::kTest,
            [&](const Task&, uint64_t i) { return NewAlwaysCallAgent(tools, Rng(2).Split(i)); }),
      GetParam().always_call, 0.05);
}

TEST_P(BaselinesTest, SplitsAreApart) {
  const std::vector<std::string> problems = SplitProblems(*loaded_.tasks, kTasks);
  EXPECT_TRUE(problems.empty()) << problems[0];
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, BaselinesTest,
                         testing::Values(Baseline{"desk", 0, 0, 0}, Baseline{"quiz", 0, 0, 0},
                                         Baseline{"service", 0, 0, 0}),
                         [](const auto& test) { return test.param.environment; });

}  // namespace
}  // namespace hone
