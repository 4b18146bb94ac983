#include "simulate/models/checkpoint.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "engine/model.h"
#include "simulate/models/language_model.h"

namespace hone {
namespace {

// A fresh model with a real tokenizer: it says nothing sensible, and always the same.
class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    ModelConfig config{.layers = 1,
                       .width = 16,
                       .heads = 2,
                       .kv_heads = 2,
                       .head_dim = 8,
                       .ffn = 32,
                       .vocab = 4103,
                       .max_positions = 256,
                       .qk_norm = true};
    hone::Model model = NewModel(config);
    InitializeModel(1, &model);
    EXPECT_TRUE(SaveModel(model, SaveType::kF32, directory_.path()).ok());
    std::filesystem::copy(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json",
                          directory_.path() / "tokenizer.json");
  }
  std::unique_ptr<LanguageModel> Model() {
    return NewLanguageModel(NewCheckpointToolkit({.folder = directory_.path()}).value(),
                            {.name = "fresh"}, NewRealTimeline())
        .value();
  }
  const TemporaryDirectory directory_;
};

TEST_F(CheckpointTest, TheSameRequestHasTheSameCompletionAloneAndBesideOthers) {
  const CompletionRequest request{
      .messages = {{"user", "hi"}}, .temperature = 1, .max_tokens = 12, .seed = 3};
  const Completion alone = Model()->Complete(request);
  ASSERT_EQ(alone.status, CompletionStatus::kOk) << alone.problem;
  EXPECT_GT(alone.usage.prompt, 0);
  EXPECT_EQ(alone.usage.completion, 12);
  EXPECT_TRUE(alone.cut);
  const auto model = Model();
  std::vector<std::jthread> others;
  for (uint64_t seed = 10; seed < 14; ++seed) {
    others.emplace_back([&, seed] {
      model->Complete(
          {.messages = {{"user", "ho"}}, .temperature = 1, .max_tokens = 9, .seed = seed});
    });
  }
  EXPECT_EQ(model->Complete(request).text, alone.text);
}

TEST_F(CheckpointTest, WhatIsTooLongIsOurFaultAndATypedOne) {
  const Completion completion =
      Model()->Complete({.messages = {{"user", std::string(5000, 'x')}}, .max_tokens = 5});
  EXPECT_EQ(completion.status, CompletionStatus::kUnavailable);
  EXPECT_FALSE(NewCheckpointToolkit({.folder = "/nowhere"}).ok());
  EXPECT_FALSE(NewCheckpointToolkit({.folder = directory_.path(), .dialect = "klingon"}).ok());
}

}  // namespace
}  // namespace hone
