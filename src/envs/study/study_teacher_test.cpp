#include "envs/study/study_teacher.h"

#include <gtest/gtest.h>

#include <map>

#include "envs/data_env.h"
#include "envs/plan.h"
#include "envs/study/readings.h"
#include "envs/study/study.h"
#include "envs/study/study_tasks.h"
#include "support/env_player.h"

namespace hone::study {
namespace {

const std::shared_ptr<const Library>& Usual() {
  static const auto library = std::make_shared<const Library>(LibraryOptions{});
  return library;
}

EnvPlayer& Player() {
  static EnvPlayer player(WithRules(NewStudy(Usual(), {}, false).value(), StudyRules()));
  return player;
}

struct Outcome {
  double success = 0, calls = 0, needless = 0, thinking = 0, thought_bytes = 0;
  std::map<std::string, double> by_family;
};

Outcome Teach(double teacher_error, uint64_t count, ThoughtStyle thoughts = ThoughtStyle::kMixed) {
  const auto tasks = NewStudyTasks(Usual(), {}, {});
  const TeacherMaker teacher = NewStudyTeacher(Usual(), {}, thoughts);
  Outcome outcome;
  std::map<std::string, double> sizes;
  double turns = 0, known = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const Playthrough played =
        Player().Run(task, teacher(task, teacher_error, Rng(7).Split(i)).value());
    const std::string family = task.metadata.Find("family")->AsString();
    ++sizes[family];
    outcome.by_family[family] += played.success() ? 1 : 0;
    outcome.success += played.success() ? 1 : 0;
    outcome.calls += static_cast<double>(played.CountCalls());
    if (family == "known") {
      ++known;
      outcome.needless += played.CountCalls() > 0 ? 1 : 0;
    }
    for (const PlayedTurn& turn : played.turns) {
      ++turns;
      outcome.thinking += turn.agent.thought.empty() ? 0 : 1;
      outcome.thought_bytes += static_cast<double>(turn.agent.thought.size());
    }
  }
  outcome.success /= static_cast<double>(count);
  outcome.calls /= static_cast<double>(count);
  outcome.needless /= known;
  outcome.thinking /= turns;
  outcome.thought_bytes /= turns;
  for (auto& [family, value] : outcome.by_family) value /= sizes[family];
  return outcome;
}

TEST(StudyTeacherTest, WithoutErrorsItIsAlwaysRight) {
  const Outcome outcome = Teach(0, 600);
  EXPECT_EQ(outcome.success, 1);
  EXPECT_EQ(outcome.needless, 0);
  EXPECT_NEAR(outcome.calls, 1.41, 0.1);
}

// As docs/environments/study.md says.
TEST(StudyTeacherTest, ErrsAsOftenAsItIsTold) {
  EXPECT_NEAR(Teach(0.3, 1000).success, 0.74, 0.04);
  const Outcome outcome = Teach(0.6, 1500);
  EXPECT_NEAR(outcome.success, 0.55, 0.04);
  EXPECT_NEAR(outcome.needless, 0.6, 0.05);
  const std::map<std::string, double> stated = {
      {"known", 0.87},   {"single", 0.55},        {"two", 0.45},     {"three", 0.41},
      {"compute", 0.61}, {"facts-compute", 0.45}, {"missing", 0.44}, {"disputed", 0.46}};
  for (const auto& [family, rate] : stated) {
    EXPECT_NEAR(outcome.by_family.at(family), rate, 0.1) << family;
  }
}

// Nor does a guess name what the question names.
TEST(StudyTeacherTest, SaysUnknownOnlyWhereThatIsRight) {
  const auto tasks = NewStudyTasks(Usual(), {}, {});
  int wrong = 0;
  for (const int64_t calls : {0, 1}) {
    const TeacherMaker teacher = NewStudyTeacher(Usual(), {}, ThoughtStyle::kMixed, calls);
    for (uint64_t i = 0; i < 600; ++i) {
      const Task task = tasks->Make(Split::kTrain, i);
      const Playthrough played = Player().Run(task, teacher(task, 0.6, Rng(5).Split(i)).value());
      const std::string said = PlainText(*played.final_state.Find("answer"));
      if (played.success()) continue;
      ++wrong;
      EXPECT_NE(said, "unknown") << task.id;
      EXPECT_NE(said, "disputed") << task.id;
      EXPECT_NE(said, "") << task.id;
      if (SortOf(said) != Sort::kNumber) {
        EXPECT_EQ(RequestOf(task).find(said), std::string::npos) << RequestOf(task) << " " << said;
      }
      if (const Json* relation = task.metadata.Find("relation")) {
        EXPECT_EQ(SortOf(said), SortOf(*FindRelation(relation->AsString()))) << task.id;
      }
    }
  }
  EXPECT_GT(wrong, 400);
}

// The thought before a wrong computation says what is computed.
TEST(StudyTeacherTest, ThoughtsMisleadAboutCodeToo) {
  for (const char* kind : {"product", "remainder", "squares", "divisor", "digit_sum"}) {
    const auto tasks = NewStudyTasks(Usual(), {.kinds = {kind}}, {});
    const TeacherMaker teacher = NewStudyTeacher(Usual(), {}, ThoughtStyle::kMixed);
    int misled = 0;
    for (uint64_t i = 0; i < 300; ++i) {
      const Task task = tasks->Make(Split::kTrain, i);
      const AgentTurn turn =
          teacher(task, 1, Rng(3).Split(i)).value()->Act(Opening{.messages = task.messages}, {});
      const std::string right = task.metadata.Find("thoughts")->AsArray()[0].AsString();
      const bool thinks = turn.thought.starts_with("Too much for the head:");
      misled += thinks && turn.thought != right ? 1 : 0;
    }
    EXPECT_GT(misled, 20) << kind;
  }
}

TEST(StudyTeacherTest, ShowsNoMoreCallsThanItIsTold) {
  const auto tasks = NewStudyTasks(Usual(), {.families = {0, 0, 1, 1, 0, 1, 0, 0}}, {});
  const TeacherMaker teacher = NewStudyTeacher(Usual(), {}, ThoughtStyle::kMixed, 1);
  int64_t called = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const Playthrough played = Player().Run(task, teacher(task, 0, Rng(7).Split(i)).value());
    EXPECT_FALSE(played.success()) << task.id;
    EXPECT_EQ(played.ending, Ending::kAnswered);
    called += played.CountCalls();
  }
  EXPECT_EQ(called, 200);
}

TEST(StudyTeacherTest, ThinksAsItIsTold) {
  const Outcome good = Teach(0, 300, ThoughtStyle::kGood),
                none = Teach(0, 300, ThoughtStyle::kNone),
                wordy = Teach(0, 300, ThoughtStyle::kWordy), mixed = Teach(0, 300);
  EXPECT_EQ(good.thinking, 1);
  EXPECT_EQ(none.thinking, 0);
  EXPECT_EQ(wordy.thinking, 1);
  EXPECT_NEAR(mixed.thinking, 0.8, 0.05);
  EXPECT_GT(wordy.thought_bytes, 2 * good.thought_bytes);
  EXPECT_EQ(good.success + none.success + wordy.success + mixed.success, 4);
}

// Only mixed thoughts mislead: with good ones an error never begins in the thought.
TEST(StudyTeacherTest, SomeMixedThoughtsNameAWrongThing) {
  const auto tasks = NewStudyTasks(Usual(), {.kinds = {"born"}}, {});
  const auto misled = [&](ThoughtStyle thoughts) {
    const TeacherMaker teacher = NewStudyTeacher(Usual(), {}, thoughts);
    int followed = 0, not_followed = 0;
    for (uint64_t i = 0; i < 1500; ++i) {
      const Task task = tasks->Make(Split::kTrain, i);
      const std::string name = (*PlanOf(task))->calls[0].arguments.Find("query")->AsString();
      const AgentTurn turn =
          teacher(task, 0.6, Rng(3).Split(i)).value()->Act(Opening{.messages = task.messages}, {});
      if (turn.calls.empty() || !turn.thought.starts_with("I need")) continue;
      const bool right_thought = turn.thought.find(name) != std::string::npos;
      const bool right_call = turn.calls[0].arguments.Find("query")->AsString() == name;
      if (!right_thought) (right_call ? not_followed : followed) += 1;
    }
    return std::pair(followed, not_followed);
  };
  EXPECT_GT(misled(ThoughtStyle::kMixed).second, 20);
  EXPECT_EQ(misled(ThoughtStyle::kGood).second, 0);
}

TEST(StudyTeacherTest, TheSameSeedIsTheSameDemonstration) {
  const auto tasks = NewStudyTasks(Usual(), {}, {});
  const TeacherMaker teacher = NewStudyTeacher(Usual(), {}, ThoughtStyle::kMixed);
  for (uint64_t i = 0; i < 50; ++i) {
    const Task task = tasks->Make(Split::kTrain, i);
    const auto demonstrate = [&] {
      return DumpJson(MessagesOf(Player().Run(task, teacher(task, 0.6, Rng(i)).value())));
    };
    EXPECT_EQ(demonstrate(), demonstrate());
  }
}

TEST(StudyTeacherTest, ATaskWithoutPlanOrThoughtsIsRefused) {
  const TeacherMaker teacher = NewStudyTeacher(Usual(), {}, ThoughtStyle::kMixed);
  EXPECT_FALSE(teacher({}, 0.5, Rng(1)).ok());
  Task task = NewStudyTasks(Usual(), {}, {})->Make(Split::kTrain, 0);
  task.metadata.Set("thoughts", Json::Array{});
  const auto refused = teacher(task, 0.5, Rng(1));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("metadata.thoughts"), std::string::npos);
  task = NewStudyTasks(Usual(), {.kinds = {"born"}}, {})->Make(Split::kTrain, 0);
  task.metadata.Set("relation", "shoe size");
  EXPECT_NE(teacher(task, 0.5, Rng(1)).error().message().find("metadata.relation"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::study
