#include "train/verify/stored_run.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/tiny_recipe.h"
#include "train/trainer.h"

namespace hone {
namespace {

TEST(StoredRun, HasWhatARunWroteDown) {
  const TemporaryDirectory out;
  const auto report = Train(ReadTiny(out.path()).value(), {});
  ASSERT_TRUE(report.ok()) << report.error().message();
  const auto run = OpenStoredRun(out.path() / "tiny/").value();
  EXPECT_EQ(run->folder, out.path() / "tiny");
  EXPECT_EQ(run->recipe.run.name, "tiny");
  EXPECT_EQ(run->begun_at, "");
  EXPECT_EQ(run->steps, 64);
  EXPECT_EQ(run->weights, report->weights);
  EXPECT_EQ(run->start, report->state.start);
  EXPECT_EQ(run->groups.size(), 4u);
  EXPECT_EQ(run->groups.begin()->first, 60);
  EXPECT_TRUE(run->values.at(63).contains("loss"));
  EXPECT_FALSE(run->checkpoints.empty());
  EXPECT_EQ(run->CacheFolder(), out.path() / "cache");
}

TEST(StoredRun, KnowsWhereItBeganAndWhereItsCacheLies) {
  const TemporaryDirectory out;
  const std::filesystem::path folder = out.path() / "some/where/runs/mine";
  std::string recipe = TinyRecipe("some/where/runs");
  recipe.replace(recipe.find("\"tiny\""), 6,
                 "\"mine\"\nresume = \"runs/other/checkpoints/step-9\"");
  ASSERT_TRUE(WriteFileAtomic(folder / "recipe.toml", recipe).ok());
  const auto run = OpenStoredRun(folder);
  ASSERT_TRUE(run.ok()) << run.error().message();
  EXPECT_EQ((*run)->begun_at, "runs/other/checkpoints/step-9");
  EXPECT_EQ((*run)->CacheFolder(), out.path() / "some/where/runs/cache");
  EXPECT_EQ((*run)->steps, 0);
}

TEST(StoredRun, AFolderWithoutARecipeIsNoRun) {
  const TemporaryDirectory out;
  EXPECT_EQ(OpenStoredRun(out.path()).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hone
