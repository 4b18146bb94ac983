#include "learn/workshop.h"

#include <gtest/gtest.h>

#include "support/tiny_workshop.h"

namespace hone {
namespace {

TEST(Workshop, EvaluatesOnTheRealToolsWhoeverAnswersInTraining) {
  TinyWorkshop tiny;
  ASSERT_TRUE(tiny.recipe.Simulates());
  const Result<Evaluation> one = tiny.shop->Evaluate({.tasks = 4}, 1);
  ASSERT_TRUE(one.ok()) << one.error().message();
  EXPECT_EQ(one->tasks, 4);
  EXPECT_EQ(one->temperature, 1);
  EXPECT_EQ(tiny.shop->real->simulator(), nullptr);
  const Result<Evaluation> greedy = tiny.shop->Evaluate({.tasks = 4}, 0);
  ASSERT_TRUE(greedy.ok()) << greedy.error().message();
  EXPECT_EQ(greedy->temperature, 0);
}

TEST(Workshop, TakesTheTokenizerOfACheckpointInsteadOfMakingOne) {
  TinyWorkshop tiny;
  ASSERT_TRUE(WriteFileAtomic(tiny.directory.path() / "tokenizer.json",
                              tiny.shop->language.tokenizer->ToJson())
                  .ok());
  const auto again =
      Workshop::Open(tiny.recipe, tiny.directory.path(), tiny.directory.path(), &tiny.times);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ((*again)->language.tokenizer->ToJson(), tiny.shop->language.tokenizer->ToJson());
  EXPECT_EQ((*again)->engine_options.forbidden, tiny.shop->engine_options.forbidden);
}

TEST(Workshop, WithoutAFolderNothingIsWrittenAndNobodyShows) {
  TinyWorkshop tiny;
  ASSERT_TRUE(WriteFileAtomic(tiny.directory.path() / "tokenizer.json",
                              tiny.shop->language.tokenizer->ToJson())
                  .ok());
  const auto bare = Workshop::Open(tiny.recipe, {}, tiny.directory.path(), nullptr);
  ASSERT_TRUE(bare.ok()) << bare.error().message();
  EXPECT_EQ((*bare)->showing, nullptr);
  EXPECT_NE((*bare)->real, nullptr);
}

}  // namespace
}  // namespace hone
