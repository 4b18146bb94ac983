#include "train/run_history.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "support/tiny_recipe.h"
#include "train/trainer.h"

namespace hone {
namespace {

TEST(RunHistoryTest, HasWhatAWholeRunWroteDown) {
  const TemporaryDirectory out;
  const auto report = Train(ReadTiny(out.path(), {"run.store_groups=-1"}).value(), {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  const Result<RunHistory> run = ReadRunHistory(out.path() / "tiny");
  ASSERT_TRUE(run.ok()) << run.error().message();
  EXPECT_EQ(run->result->Find("weights")->AsString(), report->weights);
  EXPECT_EQ(run->state->step, 64);
  EXPECT_NE(run->state->evaluations.Find("after/test/greedy"), nullptr);
  ASSERT_EQ(run->steps.size(), 7u);
  EXPECT_EQ(run->steps[0].step, 20) << "imitation is logged every 20 steps";
  const auto success = SeriesOf(*run, "success");
  ASSERT_EQ(success.size(), 4u);
  EXPECT_EQ(success[0].first, 61);
  EXPECT_EQ(SeriesOf(*run, "dev/sampled").size(), 2u);
  const auto real = SeriesOf(*run, "real_calls");
  for (const auto& [step, calls] : real) EXPECT_EQ(calls, 0) << "training was simulated";
  EXPECT_EQ(real.size(), 4u);
  ASSERT_FALSE(run->examples.empty());
  for (const RunHistory::Example& example : run->examples) {
    EXPECT_GT(*Total(example.record.scores[static_cast<size_t>(example.best)]),
              *Total(example.record.scores[static_cast<size_t>(example.worst)]));
  }
  EXPECT_NE(run->tokenizer, nullptr);
  // Time is kept over the whole run, and the passes make up nearly all of it.
  double passes = 0;
  for (const auto& [name, value] : run->state->totals.AsObject()) {
    if (name.starts_with("seconds/")) passes += value.AsDouble();
  }
  EXPECT_GT(passes, 0.5 * run->state->totals.Find("wall_seconds")->AsDouble());
}

TEST(RunHistoryTest, AnUnfinishedRunIsReadAsFarAsItIs) {
  const TemporaryDirectory out;
  ASSERT_TRUE(WriteFileAtomic(out.path() / "recipe.toml", "[run]\n").ok());
  const Result<RunHistory> begun = ReadRunHistory(out.path());
  ASSERT_TRUE(begun.ok()) << begun.error().message();
  EXPECT_FALSE(begun->state);
  EXPECT_FALSE(begun->result);
  std::ofstream(out.path() / "metrics.jsonl") << "{\"step\":0,\"success\":0.5}\n{\"step\":1,\"suc";
  EXPECT_EQ(ReadRunHistory(out.path())->steps.size(), 1u) << "the last line is being written";
}

TEST(RunHistoryTest, AFolderThatIsNoRunIsAnError) {
  const TemporaryDirectory out;
  const Result<RunHistory> run = ReadRunHistory(out.path());
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().message().find("no recipe.toml"), std::string::npos);
}

}  // namespace
}  // namespace hone
