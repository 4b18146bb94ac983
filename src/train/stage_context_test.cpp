#include "train/stage_context.h"

#include <gtest/gtest.h>

#include "support/tiny_context.h"

namespace hone {
namespace {

TEST(StageContext, EvaluatesOnTheRealToolsWhoeverAnswersInTraining) {
  TinyContext tiny;
  ASSERT_TRUE(tiny.recipe.Simulates());
  const Result<Evaluation> one = tiny.context->Evaluate({.tasks = 4}, 1);
  ASSERT_TRUE(one.ok()) << one.error().message();
  EXPECT_EQ(one->tasks, 4);
  EXPECT_EQ(one->temperature, 1);
  EXPECT_EQ(tiny.context->real->simulator(), nullptr);
  const Result<Evaluation> greedy = tiny.context->Evaluate({.tasks = 4}, 0);
  ASSERT_TRUE(greedy.ok()) << greedy.error().message();
  EXPECT_EQ(greedy->temperature, 0);
}

TEST(StageContext, TakesTheTokenizerOfACheckpointInsteadOfMakingOne) {
  TinyContext tiny;
  ASSERT_TRUE(WriteFileAtomic(tiny.directory.path() / "tokenizer.json",
                              tiny.context->language.tokenizer->ToJson())
                  .ok());
  const auto again =
      StageContext::Open(tiny.recipe, tiny.directory.path(), tiny.directory.path(), &tiny.times);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ((*again)->language.tokenizer->ToJson(), tiny.context->language.tokenizer->ToJson());
  EXPECT_EQ((*again)->engine_options.forbidden, tiny.context->engine_options.forbidden);
}

TEST(StageContext, WithoutAFolderNothingIsWrittenAndNobodyShows) {
  TinyContext tiny;
  ASSERT_TRUE(WriteFileAtomic(tiny.directory.path() / "tokenizer.json",
                              tiny.context->language.tokenizer->ToJson())
                  .ok());
  const auto bare = StageContext::Open(tiny.recipe, {}, tiny.directory.path(), nullptr);
  ASSERT_TRUE(bare.ok()) << bare.error().message();
  EXPECT_EQ((*bare)->showing, nullptr);
  EXPECT_NE((*bare)->real, nullptr);
}

}  // namespace
}  // namespace hone
