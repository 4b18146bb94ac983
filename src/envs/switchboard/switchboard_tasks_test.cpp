#include "envs/switchboard/switchboard_tasks.h"

#include <gtest/gtest.h>

#include <set>

#include "record/record_json.h"

namespace hone::switchboard {
namespace {

std::unique_ptr<TaskSource> Source(const SwitchboardOptions& options) {
  EXPECT_TRUE(CheckSwitchboard(options).ok());
  return NewSwitchboardTasks(std::make_shared<const Board>(options.board), options);
}

constexpr Split kMadeSplits[] = {Split::kTrain, Split::kDev, Split::kTest};

TEST(SwitchboardTasksTest, TheSameNumberIsTheSameTask) {
  const auto first = Source({}), second = Source({}), other = Source({.seed = 2});
  for (const Split split : kMadeSplits) {
    for (uint64_t i = 0; i < 20; ++i) {
      const std::string text = DumpJson(TaskToJson(first->Make(split, i)));
      EXPECT_EQ(text, DumpJson(TaskToJson(second->Make(split, i))));
      EXPECT_NE(text, DumpJson(TaskToJson(other->Make(split, i))));
    }
  }
  EXPECT_EQ(first->count(Split::kTrain), std::nullopt);
  EXPECT_EQ(first->count(Split::kUnseenKinds), 0u);
  EXPECT_EQ(first->count(Split::kUnseenPhrases), 0u);
}

TEST(SwitchboardTasksTest, NoCombinationIsInTwoSplitsEvenWhereThereAreFew) {
  for (const SwitchboardOptions& options :
       {SwitchboardOptions{}, SwitchboardOptions{.board = {.operations = 8}, .calls = 4}}) {
    const std::vector<std::string> problems = SplitProblems(*Source(options), 1500);
    EXPECT_TRUE(problems.empty()) << problems[0];
  }
}

TEST(SwitchboardTasksTest, AllOperationsAreInAllSplits) {
  const auto tasks = Source({});
  for (const Split split : kMadeSplits) {
    std::set<std::string> names;
    for (uint64_t i = 0; i < 200; ++i) {
      const Task task = tasks->Make(split, i);
      std::set<std::string> own;
      for (const Json& call : task.reward.Find("calls")->AsArray()) {
        own.insert(call.Find("arguments")->Find("n")->AsString());
      }
      EXPECT_EQ(own.size(), 8u) << "none is asked for twice";
      names.insert(own.begin(), own.end());
    }
    EXPECT_EQ(names.size(), 64u) << SplitName(split);
  }
}

TEST(SwitchboardTasksTest, ARequestNamesOperationsAndACodeButNoForm) {
  const Board board({});
  const Task task = Source({.calls = 3})->Make(Split::kDev, 5);
  const std::string prompt = task.messages.AsArray()[0].Find("content")->AsString();
  std::string expected = "Do";
  for (const Json& call : task.reward.Find("calls")->AsArray()) {
    expected += " " + call.Find("arguments")->Find("n")->AsString();
  }
  const Json& first = task.reward.Find("calls")->AsArray()[0];
  EXPECT_EQ(prompt, expected + " from " + first.Find("arguments")->Find("c")->AsString() + ".");
  for (const std::string& form : board.forms()) {
    EXPECT_EQ(prompt.find(" " + form + " "), std::string::npos);
  }
}

TEST(SwitchboardTasksTest, DriftBeginsWithItsTaskAndHoldsForDevAndTest) {
  const SwitchboardOptions options{.drift = 10};
  const auto tasks = Source(options);
  const auto before = Source({});
  const Board board(options.board);
  const auto seed = [](const Task& task) { return task.metadata.Find("seed")->AsUint64(); };
  int changed = 0;
  for (uint64_t i = 0; i < 30; ++i) {
    const Task task = tasks->Make(Split::kTrain, i), old = before->Make(Split::kTrain, i);
    EXPECT_EQ(seed(task), board.SessionSeed(i >= 10)) << i;
    EXPECT_EQ(task.messages, old.messages) << "what is asked does not drift";
    changed += !(task.reward == old.reward);
    EXPECT_TRUE(i >= 10 || changed == 0) << i;
    for (const Split split : {Split::kDev, Split::kTest}) {
      EXPECT_EQ(seed(tasks->Make(split, i)), board.SessionSeed(true));
    }
  }
  EXPECT_GT(changed, 12) << "nine of ten requests have an operation that drifted";
}

TEST(SwitchboardTasksTest, OptionsThatMakeNoWorldAreNamed) {
  const auto problem = [](const SwitchboardOptions& options) {
    const Result<void> checked = CheckSwitchboard(options);
    return checked.ok() ? "" : checked.error().message();
  };
  EXPECT_TRUE(problem({.board = {.forms = 2}}).starts_with("forms: "));
  EXPECT_TRUE(problem({.board = {.codes = 5}}).starts_with("codes: "));
  EXPECT_TRUE(problem({.calls = 1}).starts_with("calls: "));
  EXPECT_TRUE(problem({.board = {.operations = 7}}).starts_with("calls: "));
  EXPECT_TRUE(problem({.board = {.operations = 8}}).starts_with("operations: too few"));
  EXPECT_EQ(problem({.board = {.operations = 128}, .calls = 16}), "");
}

TEST(SwitchboardTasksTest, ARecipeSetsEveryOption) {
  Recipe recipe = Recipe::Parse(
                      "operations = 32\nforms = 4\ncodes = 16\ncalls = 4\nmode = \"loud\"\n"
                      "tries = 2\nhabits = 0.25\nshared_habit = true\ndrift = 7\nseed = 3\n"
                      "world = 9\nnames = 4\nrefused = \"skip\"\n",
                      "r")
                      .value();
  const SwitchboardOptions options = ReadSwitchboardOptions(recipe.Root());
  ASSERT_TRUE(recipe.Finish().ok());
  EXPECT_EQ(options.board.operations, 32);
  EXPECT_EQ(options.board.forms, 4);
  EXPECT_EQ(options.board.codes, 16);
  EXPECT_EQ(options.board.world, 9u);
  EXPECT_EQ(options.board.names, 4u);
  EXPECT_TRUE(options.skip_refused);
  EXPECT_EQ(options.board.habits, 0.25);
  EXPECT_TRUE(options.board.shared_habit);
  EXPECT_EQ(options.calls, 4);
  EXPECT_TRUE(options.loud);
  EXPECT_EQ(options.tries, 2);
  EXPECT_EQ(options.drift, 7u);
  EXPECT_EQ(options.seed, 3u);

  Recipe few = Recipe::Parse("operations = 8\n", "few.toml").value();
  ReadSwitchboardOptions(few.Root());
  EXPECT_NE(few.Finish().error().message().find("few.toml:1"), std::string::npos);
  Recipe silent = Recipe::Parse("refused = \"skip\"\n", "silent.toml").value();
  ReadSwitchboardOptions(silent.Root());
  EXPECT_NE(silent.Finish().error().message().find("refuses nothing"), std::string::npos);
}

}  // namespace
}  // namespace hone::switchboard
