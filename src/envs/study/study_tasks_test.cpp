#include "envs/study/study_tasks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "envs/plan.h"
#include "record/record_json.h"

namespace hone::study {
namespace {

std::unique_ptr<TaskSource> Tasks(const TaskOptions& options = {},
                                  const StudyToolNames& tools = {}) {
  static const auto library = std::make_shared<const Library>(LibraryOptions{});
  return NewStudyTasks(library, options, tools);
}

TEST(StudyTasksTest, TheSameNumberIsTheSameTask) {
  const auto first = Tasks(), second = Tasks(), third = Tasks({.seed = 2});
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

TEST(StudyTasksTest, SplitsShareNoFactEntityKindOrPhraseWhereTheyMustNot) {
  const std::vector<std::string> problems = SplitProblems(*Tasks(), 2000);
  EXPECT_TRUE(problems.empty()) << problems[0];
}

// The keys are what the generator says; the gold calls are what an agent would do.
TEST(StudyTasksTest, GoldCallsAreNeverSharedEither) {
  const auto tasks = Tasks();
  const auto calls = [&](Split split) {
    std::set<std::string> texts;
    for (uint64_t i = 0; i < 1500; ++i) {
      const Task task = tasks->Make(split, i);
      for (const Json& call : task.reward.Find("calls")->AsArray()) {
        if (*call.Find("name") == Json("search")) texts.insert(DumpJson(*call.Find("arguments")));
      }
    }
    return texts;
  };
  const std::set<std::string> train = calls(Split::kTrain);
  EXPECT_GT(train.size(), 800u);
  for (const Split split : {Split::kDev, Split::kTest, Split::kUnseenKinds}) {
    for (const std::string& call : calls(split)) {
      EXPECT_EQ(train.count(call), 0u) << SplitName(split) << " " << call;
    }
  }
}

TEST(StudyTasksTest, FamiliesComeByTheirWeights) {
  const auto tasks = Tasks();
  std::map<std::string, int> families;
  double calls = 0;
  for (uint64_t i = 0; i < 5500; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    ++families[task.metadata.Find("family")->AsString()];
    calls += static_cast<double>(task.reward.Find("calls")->AsArray().size());
  }
  for (const char* family : {"known", "single", "two"}) EXPECT_NEAR(families[family], 1000, 100);
  for (const char* family : {"three", "compute", "facts-compute", "missing", "disputed"}) {
    EXPECT_NEAR(families[family], 500, 75);
  }
  EXPECT_NEAR(calls / 5500, 1.41, 0.05)
      << "gold calls per task, as docs/environments/study.md says";
}

// docs/environments/study.md says how much they are worth.
TEST(StudyTasksTest, OneAnswerForEverythingIsSeldomRight) {
  const auto tasks = Tasks();
  std::map<std::string, int> answers;
  for (uint64_t i = 0; i < 1000; ++i) {
    ++answers[PlainText(tasks->Make(Split::kTest, i).answer)];
  }
  EXPECT_NEAR(answers["unknown"], 90, 5);
  EXPECT_NEAR(answers["disputed"], 40, 5);
  for (const auto& [answer, count] : answers) {
    if (answer != "unknown" && answer != "disputed") {
      EXPECT_LT(count, 20) << answer;
    }
  }
}

TEST(StudyTasksTest, OnlyTasksThatTheToolsCanDoAreMade) {
  const auto families = [](const StudyToolNames& tools) {
    const auto tasks = Tasks({}, tools);
    std::set<std::string> names;
    for (uint64_t i = 0; i < 300; ++i) {
      names.insert(tasks->Make(Split::kTrain, i).metadata.Find("family")->AsString());
    }
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(families({.python = false}),
            (Names{"known", "single", "two", "three", "missing", "disputed"}));
  EXPECT_EQ(families({.search = false}), (Names{"known", "compute"}));
  EXPECT_EQ(families({.search = false, .python = false}), Names{"known"});
  EXPECT_EQ(families({.search = false, .python = false, .keep_tasks = true}).size(), 8u);
  EXPECT_EQ(Tasks({}, {.search = false})->count(Split::kUnseenKinds), 0u);
}

TEST(StudyTasksTest, TheSmallestLibraryHasAllKindsInAllSplits) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const auto library = std::make_shared<const Library>(
        LibraryOptions{.seed = seed, .documents = kFewestDocuments});
    for (const Kind& kind : Kinds()) {
      const auto tasks = NewStudyTasks(library, {.kinds = {std::string(kind.name)}}, {});
      for (const Split split : kAllSplits) {
        if (tasks->count(split) == 0) continue;
        EXPECT_FALSE(tasks->Make(split, 0).answer.is_null()) << kind.name;
      }
    }
  }
}

TEST(StudyTasksTest, TheAnswerStandsNotInTheQuestion) {
  const auto tasks = Tasks({.families = {0, 1, 1, 1, 0, 0, 1, 1}});
  for (uint64_t i = 0; i < 2000; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const std::string question = task.messages.AsArray()[0].Find("content")->AsString();
    EXPECT_EQ(question.find(PlainText(task.answer)), std::string::npos) << question;
  }
}

TEST(StudyTasksTest, CodeIsRunUnderTheNameOfTheTool) {
  const auto tasks = Tasks({.kinds = {"years_between"}}, {.python_name = "code"});
  const Task task = tasks->Make(Split::kTrain, 0);
  const Plan plan = **PlanOf(task);
  ASSERT_EQ(plan.calls.size(), 3u);
  EXPECT_EQ(plan.calls[2].name, "code");
  EXPECT_TRUE(task.answer.is_integer());
  const Json::Array& gold = task.reward.Find("calls")->AsArray();
  EXPECT_EQ(gold[2].Find("name")->AsString(), "code");
  EXPECT_EQ(gold[2].Find("after")->AsArray().size(), 2u) << "the facts first";
}

TEST(StudyTasksTest, OptionsAreChecked) {
  TaskOptions options;
  options.kinds = {"borm"};
  EXPECT_EQ(CheckTaskOptions(options).error().message(),
            "kinds: no kind \"borm\" (did you mean \"born\"?)");
  options.kinds = {"years_between"};
  options.max_calls = 2;
  EXPECT_FALSE(CheckTaskOptions(options).ok());
  options = {};
  options.families = {1, 1};
  EXPECT_FALSE(CheckTaskOptions(options).ok());
  options.families = {1, 0, 0, 0, 0, 0, 0, 0};
  options.kinds = {"born"};
  EXPECT_NE(CheckTaskOptions(options).error().message().find("above 0"), std::string::npos);
}

}  // namespace
}  // namespace hone::study
