#include "envs/desk/desk_tasks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "record/record_json.h"

namespace hone::desk {
namespace {

TEST(DeskTasksTest, TheSameNumberIsTheSameTask) {
  const auto first = NewTaskSource({}), second = NewTaskSource({});
  TaskOptions other;
  other.seed = 2;
  const auto third = NewTaskSource(other);
  int different = 0;
  for (const Split split : kAllSplits) {
    for (uint64_t i = 0; i < 20; ++i) {
      const std::string text = DumpJson(TaskToJson(first->Make(split, i)));
      EXPECT_EQ(text, DumpJson(TaskToJson(second->Make(split, i))));
      different += text != DumpJson(TaskToJson(third->Make(split, i)));
    }
  }
  EXPECT_GT(different, 90);
}

TEST(DeskTasksTest, SplitsShareNoGoldCallKindOrPhraseWhereTheyMustNot) {
  TaskOptions options;
  options.hard = true;
  const std::vector<std::string> problems = SplitProblems(*NewTaskSource(options), 1500);
  EXPECT_TRUE(problems.empty()) << problems[0];
}

TEST(DeskTasksTest, GoldCallsAreNeverSharedEither) {
  // The keys are what the generator says; the gold calls are what an agent would do.
  const auto tasks = NewTaskSource({});
  const auto calls = [&](Split split) {
    std::set<std::string> texts;
    for (uint64_t i = 0; i < 1500; ++i) {
      const Task task = tasks->Make(split, i);
      for (const Json& call : task.reward.Find("calls")->AsArray()) {
        texts.insert(DumpJson(*call.Find("name")) + DumpJson(*call.Find("arguments")));
      }
    }
    return texts;
  };
  const std::set<std::string> train = calls(Split::kTrain);
  for (const Split split : {Split::kDev, Split::kTest, Split::kUnseenKinds}) {
    for (const std::string& call : calls(split)) {
      EXPECT_EQ(train.count(call), 0u) << SplitName(split) << " " << call;
    }
  }
}

TEST(DeskTasksTest, AFaultySplitIsFound) {
  class Leaky final : public TaskSource {
   public:
    std::optional<uint64_t> count(Split) const override { return 1; }
    Task Make(Split split, uint64_t) const override {
      Task task;
      task.metadata = Json::Of({{"kind", "k"},
                                {"phrase", split == Split::kTrain ? "a" : "b"},
                                {"keys", Json::Array{"weather Oslo Mon"}}});
      return task;
    }
  };
  const std::vector<std::string> problems = SplitProblems(Leaky(), 1);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0], "the kind \"k\" of unseen-kinds is in other splits too");
  EXPECT_EQ(problems[1], "the phrase \"b\" of unseen-phrases is in other splits too");
  EXPECT_EQ(problems[2], "\"weather Oslo Mon\" is in train and in test");
}

TEST(DeskTasksTest, FamiliesComeByTheirWeights) {
  const auto count = [](const TaskOptions& options) {
    const auto tasks = NewTaskSource(options);
    std::map<std::string, int> families;
    double calls = 0;
    for (uint64_t i = 0; i < 4000; ++i) {
      const Task task = tasks->Make(Split::kTrain, i);
      ++families[task.metadata.Find("family")->AsString()];
      calls += static_cast<double>(task.reward.Find("calls")->AsArray().size());
    }
    return std::pair(families, calls / 4000);
  };
  const auto [even, calls] = count({});
  for (const char* family : {"A", "B", "C", "D"}) EXPECT_NEAR(even.at(family), 1000, 100);
  EXPECT_NEAR(calls, 1.17, 0.05) << "gold calls per task";
  TaskOptions only;
  only.families = {0, 0, 0, 1};
  EXPECT_EQ(count(only).first, (std::map<std::string, int>{{"D", 4000}}));
}

TEST(DeskTasksTest, OptionsAreChecked) {
  TaskOptions options;
  options.kinds = {"skyy"};
  EXPECT_EQ(CheckTaskOptions(options).error().message(),
            "kinds: no kind \"skyy\" (did you mean \"sky\"?)");
  options.kinds = {"d_sum"};
  options.max_calls = 1;
  EXPECT_FALSE(CheckTaskOptions(options).ok());
  options = {};
  options.families = {1, 1};
  EXPECT_FALSE(CheckTaskOptions(options).ok());
}

TEST(DeskTasksTest, RecipesAreRead) {
  Recipe recipe =
      Recipe::Parse("chatter = 0.5\nkinds = [\"sky\"]\nfamilies = [1, 1]\n", "r").value();
  EXPECT_EQ(ReadTaskOptions(recipe.Root()).chatter, 0.5);
  const auto finished = recipe.Finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_NE(finished.error().message().find("four weights"), std::string::npos)
      << finished.error().message();
}

}  // namespace
}  // namespace hone::desk
