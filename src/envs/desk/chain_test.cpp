#include "envs/desk/chain.h"

#include <set>

#include <gtest/gtest.h>

#include "envs/desk/desk_tasks.h"
#include "envs/desk/desk_teacher.h"
#include "envs/desk/desk_tools.h"

namespace hone::desk {
namespace {

std::unique_ptr<TaskSource> Chains(int64_t length) {
  return NewTaskSource({.chatter = 0, .chain = length});
}

Plan PlanIn(const Task& task) { return *PlanOf(task).value(); }

TEST(Chain, HasExactlySoManyCallsAndEachNeedsTheOneBefore) {
  for (const int64_t length : {1, 2, 3, 4, 8, 16}) {
    const auto tasks = Chains(length);
    for (uint64_t i = 0; i < 50; ++i) {
      const Task task = tasks->Make(Split::kTrain, i);
      const Plan plan = PlanIn(task);
      ASSERT_EQ(static_cast<int64_t>(plan.calls.size()), length);
      EXPECT_EQ(static_cast<int64_t>(task.reward.Find("calls")->AsArray().size()), length);
      for (size_t call = 1; call < plan.calls.size(); ++call) {
        const std::string arguments = DumpJson(plan.calls[call].arguments);
        EXPECT_NE(arguments.find("${" + std::to_string(call - 1) + "."), std::string::npos)
            << arguments;
      }
    }
  }
}

TEST(Chain, IsWhatItSays) {
  const Task task = Chains(4)->Make(Split::kTrain, 3);
  const std::string request = task.messages.AsArray()[0].Find("content")->AsString();
  EXPECT_NE(request.find("lives"), std::string::npos) << request;
  EXPECT_NE(request.find(", add "), std::string::npos) << request;
  EXPECT_NE(request.find(" to "), std::string::npos) << request;
  const Plan plan = PlanIn(task);
  EXPECT_EQ(plan.calls[0].name, "contact");
  EXPECT_EQ(plan.calls[1].name, "weather");
  EXPECT_EQ(plan.calls[2].name, "calculator");
  EXPECT_EQ(plan.calls[3].name, "convert");
  EXPECT_EQ(task.metadata.Find("kind")->AsString(), "chain_4");
  EXPECT_EQ(task.metadata.Find("family")->AsString(), "D");
}

TEST(Chain, ShortOnesAskForTheSkyAndLongerOnesForANumber) {
  const Task two = Chains(2)->Make(Split::kTrain, 0), eight = Chains(8)->Make(Split::kTrain, 0);
  EXPECT_NE(two.messages.AsArray()[0].Find("content")->AsString().find("sky"), std::string::npos);
  EXPECT_GE(IndexOf(Skies(), two.answer.AsString()), 0);
  EXPECT_EQ(eight.answer.AsString().find_first_not_of("0123456789"), std::string::npos);
}

TEST(Chain, TheWeatherOfOneSplitIsNotThatOfAnother) {
  const auto tasks = Chains(8);
  std::map<Split, std::set<std::string>> keys;
  for (const Split split : {Split::kTrain, Split::kDev, Split::kTest}) {
    for (uint64_t i = 0; i < 200; ++i) {
      const Task task = tasks->Make(split, i);
      for (const Json& key : task.metadata.Find("keys")->AsArray()) {
        keys[split].insert(key.AsString());
      }
    }
  }
  for (const std::string& key : keys[Split::kTrain]) {
    EXPECT_FALSE(keys[Split::kDev].contains(key)) << key;
    EXPECT_FALSE(keys[Split::kTest].contains(key)) << key;
  }
  for (const std::string& key : keys[Split::kDev]) EXPECT_FALSE(keys[Split::kTest].contains(key));
}

TEST(Chain, HasNoUnseenKindsOrPhrases) {
  const auto tasks = Chains(2);
  EXPECT_EQ(tasks->count(Split::kTrain), std::nullopt);
  EXPECT_EQ(tasks->count(Split::kUnseenKinds), 0u);
  EXPECT_EQ(tasks->count(Split::kUnseenPhrases), 0u);
}

TEST(Chain, OffByDefaultItLeavesAllTasksAsTheyAre) {
  const auto plain = NewTaskSource({}), zero = NewTaskSource({.chain = 0});
  for (uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(plain->Make(Split::kTest, i), zero->Make(Split::kTest, i));
    const Task task = plain->Make(Split::kTest, i);
    EXPECT_FALSE(task.metadata.Find("kind")->AsString().starts_with("chain"));
  }
  // A recipe that says nothing of it is the same run as before.
  Recipe silent = Recipe::Parse("[tasks]\nchatter = 0.0\n", "silent.toml").value();
  EXPECT_EQ(ReadTaskOptions(silent.Root().Table("tasks")).chain, 0);
  EXPECT_EQ(DumpJson(silent.Said()).find("chain"), std::string::npos);
  Recipe chain = Recipe::Parse("[tasks]\nchain = 4\n", "chain.toml").value();
  EXPECT_EQ(ReadTaskOptions(chain.Root().Table("tasks")).chain, 4);
}

TEST(Chain, LengthsThatThereAreNotAreRefused) {
  EXPECT_FALSE(CheckTaskOptions({.chain = 17}).ok());
  EXPECT_FALSE(CheckTaskOptions({.chain = -1}).ok());
}

TEST(Chain, TheTeacherShowsItWithAndWithoutMistakes) {
  const Task task = Chains(8)->Make(Split::kTrain, 0);
  EXPECT_TRUE(NewTeacher(task, 0.6, Rng(1)).ok());
}

}  // namespace
}  // namespace hone::desk
