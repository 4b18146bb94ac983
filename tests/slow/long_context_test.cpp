// Contexts of 16,384 tokens: the same bits, and memory that grows with the tokens.

#include <gtest/gtest.h>

#include "base/rng.h"
#include "engine/decoder.h"
#include "engine/distribution.h"

namespace hone {
namespace {

constexpr int64_t kLong = 16384;

Model SmallModel() {
  ModelConfig config;
  config.layers = 2;
  config.width = 64;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 16;
  config.ffn = 128;
  config.vocab = 256;
  config.max_positions = kLong;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(1, &model);
  for (Parameter& parameter : model.parameters) {  // sharper, so that attention is not a mean
    if (parameter.name.find("norm") != std::string::npos) continue;
    for (float& value : parameter.value) value *= 4;
  }
  return model;
}

std::vector<TokenId> LongText(int64_t length) {
  Rng rng(3);
  std::vector<TokenId> tokens(static_cast<size_t>(length));
  for (TokenId& token : tokens) token = static_cast<TokenId>(rng.Below(256));
  return tokens;
}

// Log-probabilities by feeding chunks of some size, beside a stranger.
std::vector<float> Chunked(Decoder* decoder, const std::vector<TokenId>& tokens, int64_t chunk) {
  KvPages pages(decoder->config(), decoder->options().precision);
  KvSequence own(&pages), stranger(&pages);
  const std::vector<TokenId> other = LongText(64);
  std::vector<float> logprobs;
  Floats hidden, logits;
  const int64_t vocab = decoder->config().vocab, width = decoder->config().width;
  const auto length = static_cast<int64_t>(tokens.size());
  for (int64_t at = 0; at + 1 < length; at += chunk) {
    const int64_t count = std::min(chunk, length - 1 - at);
    std::vector<Decoder::Chunk> chunks;
    int64_t before = 0;
    if (stranger.length() < 64) {
      const int64_t from = stranger.length();
      stranger.Extend(1);
      chunks.push_back({stranger.table(), from, std::span(other).subspan(from, 1), {}});
      before = 1;
    }
    own.Extend(count);
    chunks.push_back({own.table(), at, std::span(tokens).subspan(at, count), {}});
    decoder->Forward(chunks, &pages, &hidden);
    decoder->Logits(hidden.data() + before * width, count, &logits);
    for (int64_t i = 0; i < count; ++i) {
      const std::span<const float> row(logits.data() + i * vocab, static_cast<size_t>(vocab));
      logprobs.push_back(
          DistributionOf(row, 1).LogProb(row[static_cast<size_t>(tokens[at + i + 1])]));
    }
  }
  return logprobs;
}

TEST(LongContext, TheSameBitsHoweverItIsComputed) {
  const Model model = SmallModel();
  const std::vector<TokenId> tokens = LongText(kLong);
  // The beginning shared with a branch that leaves at an odd place.
  Tree tree = ChainOf({tokens.begin(), tokens.begin() + 10007});
  tree.nodes.push_back({.parent = 0, .tokens = {tokens.begin() + 10007, tokens.end()}});
  tree.nodes.push_back({.parent = 0, .tokens = {1, 2, 3}});
  tree.leaves = {{.node = 1}, {.node = 2}};
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    ThreadPool one(1), two(2);
    Decoder decoder(&model, {.precision = precision}, &two);
    const Tree chain = ChainOf(tokens);
    std::vector<float> whole = decoder.LogProbs({&chain, 1})[0][0].logprobs;
    whole.erase(whole.begin());
    EXPECT_EQ(Chunked(&decoder, tokens, 7), whole);
    EXPECT_EQ(Chunked(&decoder, tokens, 5000), whole);
    Decoder single(&model, {.precision = precision}, &one);
    EXPECT_EQ(Chunked(&single, tokens, 64), whole);
    const TreeLogprobs branched = decoder.LogProbs({&tree, 1})[0];
    std::vector<float> path(branched[0].logprobs.begin() + 1, branched[0].logprobs.end());
    path.insert(path.end(), branched[1].logprobs.begin(), branched[1].logprobs.end());
    EXPECT_EQ(path, whole);
    Gradients gradients;
    for (const Parameter& parameter : model.parameters) {
      gradients.emplace_back(parameter.value.size(), 0.0f);
    }
    decoder.Accumulate(
        {&chain, 1},
        [&](std::span<TreeTerms> terms) {
          const std::vector<float>& seen = terms[0].paths[0].logprobs;
          EXPECT_TRUE(std::equal(whole.begin(), whole.end(), seen.begin() + 1));
          for (float& d : terms[0].paths[0].dlogprobs) d = -1e-4f;
        },
        SharedTokens::kRepeat, &gradients);
  }
}

TEST(LongContext, MemoryGrowsWithTheTokensAndNoFaster) {
  const Model model = SmallModel();
  auto bytes_for = [&](int64_t length, bool train) {
    ThreadPool pool(2);
    Decoder decoder(&model, {.precision = Precision::kBf16}, &pool);
    const Tree chain = ChainOf(LongText(length));
    if (!train) {
      decoder.LogProbs({&chain, 1});
      return decoder.buffer_bytes();
    }
    Gradients gradients;
    for (const Parameter& parameter : model.parameters) {
      gradients.emplace_back(parameter.value.size(), 0.0f);
    }
    decoder.Accumulate(
        {&chain, 1},
        [](std::span<TreeTerms> terms) {
          for (float& d : terms[0].paths[0].dlogprobs) d = -1e-4f;
        },
        SharedTokens::kRepeat, &gradients);
    return decoder.buffer_bytes();
  };
  for (const bool train : {false, true}) {
    const int64_t quarter = bytes_for(kLong / 4, train), whole = bytes_for(kLong, train);
    EXPECT_LT(whole, 4.4 * static_cast<double>(quarter)) << (train ? "training" : "scoring");
    RecordProperty(train ? "training_bytes_per_token" : "scoring_bytes_per_token",
                   static_cast<int>(whole / kLong));
  }
}

}  // namespace
}  // namespace hone
