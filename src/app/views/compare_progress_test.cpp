#include "app/views/compare_progress.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

// What is written while one run fails and another finishes.
std::string Written(bool programs) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "out";
  std::FILE* file = std::fopen(path.c_str(), "w");
  {
    const auto progress = NewCompareProgress(programs, file);
    ComparedRun run;
    run.arm = "grpo";
    run.seed = 3;
    progress->OnBegin(2, 0);
    progress->OnRunBegin(run);
    progress->OnRunEvent(run, Json::Of({{"event", "step"}, {"step", 1}}));
    progress->OnProgress(0.5, 2);
    progress->OnRunEvent(
        run,
        Json::Of(
            {{"event", "stage"}, {"kind", "rl"}, {"number", 2}, {"steps", 20}, {"cached", false}}));
    progress->OnRunEvent(run, Json::Of({{"event", "step"},
                                        {"run_step", 205},
                                        {"values", Json::Of({{"dev/sampled", 0.25}})}}));
    run.status = ComparedRun::Status::kFailed;
    run.why = "no space\x1b[31m";
    progress->OnRunEnd(run);
    run.status = ComparedRun::Status::kFinished;
    run.evaluations.Set("after/test/sampled", Json::Of({{"all", Json::Of({{"success", 0.915}})}}));
    progress->OnRunEnd(run);
  }
  std::fclose(file);
  return *ReadFile(path);
}

TEST(CompareProgress, PeopleGetALinePerRunAndNoBarInAFile) {
  const std::string text = Written(false);
  EXPECT_NE(text.find("2 runs, 0 of them"), std::string::npos) << text;
  EXPECT_NE(text.find("grpo seed 3"), std::string::npos) << text;
  EXPECT_NE(text.find("begins\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stage 3: rl, 20 steps\n"), std::string::npos) << text;
  EXPECT_NE(text.find("step 205, dev 25.0 %, about "), std::string::npos)
      << "what is left is said in a file, too: " << text;
  EXPECT_NE(text.find("failed: no space"), std::string::npos) << text;
  EXPECT_NE(text.find("91.5 % sampled"), std::string::npos) << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(CompareProgress, ProgramsGetOneObjectPerEvent) {
  const Result<std::vector<Json>> lines = ParseJsonLines(Written(true));
  ASSERT_TRUE(lines.ok()) << lines.error().message();
  std::string events;
  for (const Json& line : *lines) events += line.Find("event")->AsString() + " ";
  EXPECT_EQ(events, "begin run_begin run_event progress run_event run_event run_end run_end ");
}

}  // namespace
}  // namespace hone
