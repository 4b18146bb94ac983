#include "app/views/train_progress.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

// What an observer of this style writes of a short run.
std::string Written(ProgressStyle style) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "out").string();
  std::FILE* stream = std::fopen(file.c_str(), "w");
  {
    const auto observer = NewTrainProgress(style, stream);
    observer->OnStage({.kind = "rl", .number = 1, .count = 2, .steps = 3, .before = 200});
    observer->OnStep({.stage = "rl",
                      .step = 1,
                      .steps = 3,
                      .values = {{"success", 0.25}, {"trajectories", 4}},
                      .run_step = 201});
    observer->OnAlarm({.step = 0, .name = "entropy", .message = "it fell", .remedy = "raised"});
    observer->OnEvaluation("dev/dev/greedy", Evaluation());
    observer->OnNote("a \x1b[31m note");
  }
  std::fclose(stream);
  return *ReadFile(file);
}

TEST(TrainProgress, PeopleReadLines) {
  const std::string text = Written(ProgressStyle::kPeople);
  for (const char* part : {"stage 2 of 2: rl, steps 201 to 203", "\n  201   25.0%",
                           "entropy: it fell (raised)", "dev/dev/greedy", "success"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "no bar, no colour, no foreign sequences";
}

TEST(TrainProgress, CallsThatNobodyReadAreSaidOnce) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "out").string();
  std::FILE* stream = std::fopen(file.c_str(), "w");
  {
    const auto observer = NewTrainProgress(ProgressStyle::kPeople, stream);
    Evaluation evaluation;
    evaluation.counts.unread_calls = 2;
    evaluation.counts.unread_note = "choose calls=glm";
    observer->OnEvaluation("before/test/sampled", evaluation);
    observer->OnEvaluation("before/test/greedy", evaluation);
  }
  std::fclose(stream);
  const std::string text = *ReadFile(file), note = "2 turns look like calls that were not read: ";
  ASSERT_NE(text.find(note + "choose calls=glm\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(note), text.rfind(note));
}

TEST(TrainProgress, ProgramsReadJson) {
  const Result<std::vector<Json>> lines = ParseJsonLines(Written(ProgressStyle::kPrograms));
  ASSERT_TRUE(lines.ok()) << lines.error().message();
  ASSERT_EQ(lines->size(), 5u);
  EXPECT_EQ((*lines)[1].Find("step")->AsInteger(), 1);
  EXPECT_EQ((*lines)[1].Find("run_step")->AsInteger(), 201);
  EXPECT_EQ((*lines)[1].Find("values")->Find("success")->AsDouble(), 0.25);
}

TEST(TrainProgress, QuietIsQuiet) { EXPECT_EQ(Written(ProgressStyle::kQuiet), ""); }

TEST(TrainProgress, TheEndComparesBeforeAndAfter) {
  TrainReport report;
  const auto measured = [](double success) {
    return Json::Of({{"all", Json::Of({{"success", success}, {"calls_per_task", 1.5}})}});
  };
  report.state.evaluations.Set("before/test/sampled", measured(0.455));
  report.state.evaluations.Set("after/test/sampled", measured(0.912));
  report.weights = "abc";
  report.wall = 10;
  report.seconds = {{"training", 9.9}};
  report.ratio_tokens = 77;
  report.state.totals.Set("real_calls", 0);
  const std::string text = TrainSummary(TrainingRecipe(), report, {});
  for (const char* part :
       {"45.5 %                  91.2 %", "0 calls of real tools", "hone eval runs/run",
        "all 77 on-policy tokens", "weights abc", "99.0 %"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(TrainSummaryJson(report).Find("ratio_one_tokens")->AsInteger(), 77);
}

}  // namespace
}  // namespace hone
