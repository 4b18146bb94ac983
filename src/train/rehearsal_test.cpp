#include "train/rehearsal.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_context.h"
#include "train/run_estimate.h"
#include "train/trainer.h"

namespace hone {
namespace {

class RehearsalTest : public testing::Test {
 protected:
  std::string Program(const char* name, const char* text) {
    const std::filesystem::path file = folder_.path() / name;
    EXPECT_TRUE(WriteFileAtomic(file, text).ok());
    return file.string();
  }
  std::string RewardBy(const std::string& program) {
    return "rewards={command=['python3', '" + program + "']}";
  }
  const TemporaryDirectory folder_;
};

constexpr char kDies[] = R"(import sys, json
for line in sys.stdin:
    json.loads(line)["tree"]["no such key"]
)";
// Scores whatever is asked first, then nothing any more.
constexpr char kDiesLater[] = R"(import sys, json, os
for line in sys.stdin:
    ask = json.loads(line)
    if os.path.exists(sys.argv[0] + ".once"): raise RuntimeError("out of ideas")
    open(sys.argv[0] + ".once", "w").close()
    print(json.dumps({"request": ask["request"], "rewards": [1.0] * len(ask["tree"]["leaves"])}), flush=True)
)";

TEST_F(RehearsalTest, ARewardThatDiesStopsTheRunBeforeItsFirstStep) {
  const auto recipe =
      ReadTiny(folder_.path(), {RewardBy(Program("dies.py", kDies)), "credit.method=grpo"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  const auto report = Train(*recipe, {});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message().find("KeyError: 'no such key'"), std::string::npos)
      << report.error().message();
  EXPECT_TRUE(CheckpointsIn(recipe->Folder()).empty());
  // The plan says so, too.
  const auto plan = EstimateRun(*recipe);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message().find("KeyError"), std::string::npos) << plan.error().message();
}

TEST_F(RehearsalTest, AStepInWhichNothingCouldBeScoredEndsTheRun) {
  const auto recipe =
      ReadTiny(folder_.path(), {RewardBy(Program("later.py", kDiesLater)), "credit.method=grpo"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  const auto report = Train(*recipe, {});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message().find("RuntimeError: out of ideas"), std::string::npos)
      << report.error().message();
  EXPECT_NE(report.error().message().find("trajectories"), std::string::npos);
}

TEST_F(RehearsalTest, AJudgeIsBlamedOnlyWhereNothingWasScored) {
  const TermFault fault{Blame::kJudge, "it hung"};
  const RewardTerm good{"outcome", 1.0};
  const RewardTerm bad{"outcome", std::nullopt, 1, kNoNode, std::nullopt, fault};
  const std::vector<ScoredTree> mixed = {{{}, {{0, {bad}}, {1, {good}}}, {}}};
  EXPECT_TRUE(CheckJudge(mixed).ok());
  const std::vector<ScoredTree> none = {{{}, {{0, {bad}}, {1, {bad}}}, {}}};
  ASSERT_FALSE(CheckJudge(none).ok());
  EXPECT_EQ(CheckJudge(none).error().message(),
            "the reward gave nothing for any of 2 trajectories: it hung");
  EXPECT_TRUE(CheckJudge({}).ok());
}

TEST_F(RehearsalTest, AnEndpointThatNobodyServesIsFoundOutBeforeAnythingIsComputed) {
  const std::vector<std::string> changes = {
      "simulator={kind='endpoint', url='http://127.0.0.1:9', model='m'}"};
  const auto recipe = ReadTiny(folder_.path(), changes);
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  const auto report = Train(*recipe, {});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message().find("nobody answers at http://127.0.0.1:9"),
            std::string::npos)
      << report.error().message();
  EXPECT_TRUE(CheckpointsIn(recipe->Folder()).empty());
  EXPECT_TRUE(EstimateRun(*recipe).ok()) << "a plan asks nobody";
}

TEST_F(RehearsalTest, AnEnvironmentThatDiesIsQuotedBeforeAnythingIsComputed) {
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "tasks.jsonl",
                              R"({"id": "t", "prompt": "Guess.", "answer": "2"})"
                              "\n")
                  .ok());
  const std::string program = Program("env.py", "raise RuntimeError('no board today')\n");
  const std::string conversations =
      Program("chats.jsonl",
              "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, "
              "{\"role\": \"assistant\", \"content\": \"b\"}]}\n");
  const auto recipe =
      ReadTiny(folder_.path(),
               {"environment={kind='command', command=['python3', '" + program + "'], train='" +
                    (folder_.path() / "tasks.jsonl").string() + "'}",
                "rewards={preset='outcome'}", "credit.method=grpo", "answers={mode='live'}",
                "stage=[{kind='sft', data=['" + conversations + "'], held_out=0.0, steps=1}, " +
                    "{kind='rl', steps=1, groups=1, group=2}]"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  for (const std::string& said :
       {Train(*recipe, {}).error().message(), EstimateRun(*recipe).error().message()}) {
    EXPECT_NE(said.find("the environment cannot open task \"t\""), std::string::npos) << said;
    EXPECT_NE(said.find("it last wrote: RuntimeError: no board today"), std::string::npos) << said;
  }
}

// Tasks without plans can be practised; they cannot be imitated, and a fresh model cannot be made
// from them.
TEST_F(RehearsalTest, WhatNeedsPlansSaysSoBeforehand) {
  ASSERT_TRUE(
      WriteFileAtomic(folder_.path() / "tasks.jsonl", "{\"prompt\": \"1+1?\", \"answer\": \"2\"}\n")
          .ok());
  const std::string tasks =
      "environment={kind='data', train='" + (folder_.path() / "tasks.jsonl").string() + "'}";
  const auto recipe =
      ReadTiny(folder_.path(), {tasks, "rewards={preset='outcome'}", "credit.method=grpo",
                                "answers={mode='live'}", "stage.0.demonstrator=gold"});
  ASSERT_TRUE(recipe.ok()) << recipe.error().message();
  const auto report = Train(*recipe, {});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message().find("has no plan; give tasks a metadata.plan"),
            std::string::npos)
      << report.error().message();
}

}  // namespace
}  // namespace hone
