#include "text/bpe_trainer.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"

namespace hone {
namespace {

std::vector<std::string> Corpus() {
  return {*ReadFile(HONE_SOURCE_DIR "/tests/golden/bpe/corpus.txt")};
}

BpeTrainingOptions Options() {
  BpeTrainingOptions options;
  options.vocab_size = 600;
  options.added = {{.content = "<|im_end|>", .special = true}, {.content = "<tool_call>"}};
  return options;
}

TEST(BpeTrainer, CompressesItsTextAndRoundTrips) {
  auto tokenizer = TrainBpe(Corpus(), Options());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  EXPECT_EQ(tokenizer->vocab_size(), 602);
  const std::string text = Corpus()[0];
  const auto ids = tokenizer->Encode(text);
  EXPECT_LT(ids.size(), text.size() / 2);
  EXPECT_EQ(tokenizer->Decode(ids), text);
  EXPECT_EQ(tokenizer->FindAdded("<|im_end|>"), 600);
  EXPECT_TRUE(tokenizer->IsSpecial(600));
  EXPECT_FALSE(tokenizer->IsSpecial(601));
}

TEST(BpeTrainer, TheMostFrequentPairComesFirstAndTiesGoToTheSmallerIds) {
  BpeTrainingOptions options;
  options.vocab_size = 258;
  options.split = R"(\S+|\s+)";
  auto tokenizer = TrainBpe({"zy zy ab ab zy"}, options);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(tokenizer->TokenBytes(256), "zy");
  EXPECT_EQ(tokenizer->TokenBytes(257), "ab");
  auto tied = TrainBpe({"zy ab zy ab"}, options);
  EXPECT_EQ(tied->TokenBytes(256), "ab");
}

TEST(BpeTrainer, StopsWhenNothingIsFrequentEnough) {
  BpeTrainingOptions options;
  options.vocab_size = 1000;
  options.min_frequency = 2;
  EXPECT_EQ(TrainBpe({"abc"}, options)->vocab_size(), 256);
  options.min_frequency = 1;
  EXPECT_EQ(TrainBpe({"abc"}, options)->vocab_size(), 258);
}

TEST(BpeTrainer, TheSameInputGivesTheSameFile) {
  EXPECT_EQ(TrainBpe(Corpus(), Options())->ToJson(), TrainBpe(Corpus(), Options())->ToJson());
}

TEST(BpeTrainer, BadOptionsAreRefused) {
  BpeTrainingOptions options;
  options.vocab_size = 100;
  EXPECT_EQ(TrainBpe({""}, options).error().code(), ErrorCode::kInvalidArgument);
  options.vocab_size = 300;
  options.split = "(";
  EXPECT_EQ(TrainBpe({""}, options).error().code(), ErrorCode::kParse);
}

// tests/golden/bpe: merges by Hugging Face's BpeTrainer on the same corpus.
TEST(BpeTrainer, LearnsTheSameMergesAsHuggingFace) {
  BpeTrainingOptions options;
  options.vocab_size = 1200;
  auto tokenizer = TrainBpe(Corpus(), options);
  ASSERT_TRUE(tokenizer.ok());
  const Json theirs = *ParseJson(*ReadFile(HONE_SOURCE_DIR "/tests/golden/bpe/tokenizer.json"));
  const Json ours = *ParseJson(tokenizer->ToJson());
  EXPECT_EQ(*ours.Find("model")->Find("merges"), *theirs.Find("model")->Find("merges"));
  EXPECT_EQ(*ours.Find("model")->Find("vocab"), *theirs.Find("model")->Find("vocab"));
}

}  // namespace
}  // namespace hone
