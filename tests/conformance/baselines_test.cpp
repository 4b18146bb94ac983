// Gold plans of a thousand tasks succeed, and agents that know nothing score what the documentation
// of the environment states (docs/environments/*.md).

#include <gtest/gtest.h>

#include <cstdio>

#include "base/file.h"
#include "envs/agents.h"
#include "envs/environments.h"
#include "envs/task_source.h"
#include "support/env_player.h"

namespace hone {
namespace {

constexpr uint64_t kTasks = 1000;

// Per cent of the test split, as the row of this environment on its page says.
struct Stated {
  double gold = -1, random = -1, idle = -1, always_call = -1;
};

Stated StatedFor(const std::string& environment, const std::string& page) {
  const std::string text =
      ReadFile(std::string(HONE_SOURCE_DIR) + "/docs/environments/" + page + ".md").value();
  const size_t row = text.find("\n| " + environment + " |");
  Stated stated;
  if (row == std::string::npos) return stated;
  const std::string line = text.substr(row + 1 + environment.size() + 4);
  std::sscanf(line.c_str(), " %lf | %lf | %lf | %lf |", &stated.gold, &stated.random, &stated.idle,
              &stated.always_call);
  return stated;
}

struct Baseline {
  std::string environment, page;
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
  const Stated stated = StatedFor(GetParam().environment, GetParam().page);
  EXPECT_EQ(stated.gold, 100);
  const auto near = [](double score, double said) { EXPECT_NEAR(score, said, 0.05); };
  near(Score(Split::kTest,
             [&](const Task&, uint64_t i) { return NewRandomAgent(tools, Rng(1).Split(i)); }),
       stated.random);
  near(Score(Split::kTest, [](const Task&, uint64_t) { return NewIdleAgent(); }), stated.idle);
  near(Score(Split::kTest,
             [&](const Task&, uint64_t i) { return NewAlwaysCallAgent(tools, Rng(2).Split(i)); }),
       stated.always_call);
}

TEST_P(BaselinesTest, SplitsAreApart) {
  const std::vector<std::string> problems = SplitProblems(*loaded_.tasks, kTasks);
  EXPECT_TRUE(problems.empty()) << problems[0];
}

INSTANTIATE_TEST_SUITE_P(BuiltIn, BaselinesTest,
                         testing::Values(Baseline{"desk", "desk"}, Baseline{"quiz", "desk"},
                                         Baseline{"service", "service"},
                                         Baseline{"switchboard", "switchboard"},
                                         Baseline{"study", "study"}),
                         [](const auto& test) { return test.param.environment; });

}  // namespace
}  // namespace hone
