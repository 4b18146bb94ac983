// The public files of benchmarks as tasks: each is read whole, its gold answers are right and its
// neighbours' are not.

#include <gtest/gtest.h>

#include "base/file.h"
#include "envs/data_env.h"
#include "envs/plan.h"
#include "envs/task_file.h"
#include "support/env_player.h"
#include "support/shared_data.h"

namespace hone {
namespace {

struct BenchmarkFile {
  const char* name;
  const char* shape;
  size_t tasks;
  TaskKeys keys;
  const char* kind;
};

class BenchmarkFiles : public testing::TestWithParam<BenchmarkFile> {};

bool IsRight(const Environment& environment, const Task& task, const std::string& answer) {
  const auto episode = environment.Open(task, 1).value();
  AgentTurn turn;
  turn.answer = answer;
  (void)episode->Step(turn);
  return episode->final_state().Find("verdict")->AsBool();
}

TEST_P(BenchmarkFiles, AreReadWholeAndJudgedByTheirRule) {
  const BenchmarkFile& expected = GetParam();
  HONE_NEED_SHARED(path, expected.name);
  const TaskFile file = ReadTaskFile(ReadFile(path).value(), nullptr, expected.keys);
  ASSERT_TRUE(file.problems.empty()) << NoProblems(file, expected.name).error().message();
  EXPECT_EQ(file.shape, expected.shape);
  ASSERT_EQ(file.tasks.size(), expected.tasks);
  const auto environment = NewDataEnvironment(std::make_shared<const Toolbox>(), {});
  size_t wrong_that_pass = 0;
  for (size_t i = 0; i < file.tasks.size(); ++i) {
    const Task& task = file.tasks[i];
    ASSERT_EQ(task.reward, Json(expected.kind)) << task.id;
    const Json::Array golds =
        task.answer.is_array() ? task.answer.AsArray() : Json::Array{task.answer};
    for (const Json& gold : golds) {
      EXPECT_TRUE(IsRight(*environment, task, PlainText(gold))) << task.id << " " << DumpJson(gold);
      EXPECT_FALSE(IsRight(*environment, task, "1x" + PlainText(gold))) << task.id;
    }
    const Task& other = file.tasks[(i + 1) % file.tasks.size()];
    if (other.answer != task.answer && other.answer.is_string()) {
      wrong_that_pass += IsRight(*environment, task, other.answer.AsString()) ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong_that_pass, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, BenchmarkFiles,
    testing::Values(
        BenchmarkFile{"data/gsm8k/test.jsonl", "gsm8k", 680, {}, "gsm8k"},
        BenchmarkFile{"data/gsm8k/train_600.jsonl", "gsm8k", 600, {}, "gsm8k"},
        BenchmarkFile{"data/gsm8k/example_model_solutions.jsonl", "gsm8k", 400, {}, "gsm8k"},
        // Its rows are {"question", "answer"} like anybody's: the recipe says what they are.
        BenchmarkFile{"data/math-qa/math500.jsonl", "trl", 256, {.kind = "math"}, "math"},
        BenchmarkFile{"data/math-qa/hotpotqa.jsonl", "qa", 99, {}, "qa-exact"},
        BenchmarkFile{"data/math-qa/2wiki.jsonl", "qa", 94, {}, "qa-exact"},
        BenchmarkFile{"data/math-qa/musique.jsonl", "qa", 105, {.kind = "qa-f1"}, "qa-f1"},
        BenchmarkFile{"data/math-qa/bamboogle.jsonl", "qa", 62, {}, "qa-exact"}),
    [](const testing::TestParamInfo<BenchmarkFile>& file) {
      return std::filesystem::path(file.param.name).stem().string();
    });

}  // namespace
}  // namespace hone
