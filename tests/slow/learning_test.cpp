// What takes a minute: things that really learn.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <regex>

#include "base/file.h"
#include "base/subprocess.h"
#include "engine/engine.h"

namespace hone {
namespace {

// The example climbs from chance to at least 95 %, to these very bits: on any machine, any number
// of threads and any instruction set.
TEST(Learning, DigitsAreLearnedToTheBit) {
  const auto run = RunSubprocess({HONE_DIGITS}, "", std::chrono::seconds(600));
  ASSERT_TRUE(run.ok());
  std::smatch after;
  ASSERT_TRUE(std::regex_search(run->standard_output, after,
                                std::regex("after +([0-9.]+) % solved; weights ([0-9a-f]{64})")))
      << run->standard_output;
  EXPECT_GE(std::stod(after[1]), 95.0) << run->standard_output;
  EXPECT_EQ(after[2], "bf0c029cacc96609a08b16a426fec948383fc8c12ed834495a2c36f941214868");
  EXPECT_EQ(run->exit_code, 0);
  std::smatch before;
  ASSERT_TRUE(std::regex_search(run->standard_output, before, std::regex("before +([0-9.]+) %")));
  EXPECT_LE(std::stod(before[1]), 1.0) << "chance";
}

// A character-level language model from nothing: the licence of this repository. Guessing costs
// 4.85 nats a character, the frequencies of the characters alone 3.1.
TEST(Learning, ACharacterModelReadsTheLicence) {
  constexpr size_t kLength = 128, kBatch = 8;
  constexpr int kSteps = 500;
  const std::string text = *ReadFile(HONE_SOURCE_DIR "/LICENSE");
  ModelConfig config;
  config.layers = 3;
  config.width = 128;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 32;
  config.ffn = 384;
  config.vocab = 128;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  Engine engine(std::move(model), {});
  Rng rng(2);
  double last = 0;  // the mean of the last ten steps
  for (int step = 0; step < kSteps; ++step) {
    std::vector<Tree> batch;
    for (size_t b = 0; b < kBatch; ++b) {
      const size_t at = rng.Below(text.size() - kLength);
      std::vector<TokenId> tokens;
      for (size_t i = 0; i < kLength; ++i) tokens.push_back(text[at + i] & 0x7F);
      batch.push_back(ChainOf(std::move(tokens)));
    }
    double loss = 0;
    engine.Accumulate(batch, [&](std::span<TreeTerms> terms) {
      constexpr float kShare = 1.0f / (kBatch * (kLength - 1));
      for (TreeTerms& tree : terms) {
        for (size_t t = 1; t < kLength; ++t) {
          loss -= tree.paths[0].logprobs[t] * kShare;
          tree.paths[0].dlogprobs[t] = -kShare;
        }
      }
    });
    engine.Step({.learning_rate = 3e-3, .beta2 = 0.99});
    if (step >= kSteps - 10) last += loss / 10;
  }
  std::printf("%.3f nats per character\n", last);
  EXPECT_LT(last, 0.7);
}

}  // namespace
}  // namespace hone
