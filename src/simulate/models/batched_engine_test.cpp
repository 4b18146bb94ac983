#include "simulate/models/batched_engine.h"

#include <gtest/gtest.h>

#include <thread>

namespace hone {
namespace {

std::unique_ptr<Engine> Fresh() {
  ModelConfig config{.layers = 1,
                     .width = 16,
                     .heads = 2,
                     .kv_heads = 2,
                     .head_dim = 8,
                     .ffn = 32,
                     .vocab = 50,
                     .max_positions = 64,
                     .qk_norm = true};
  Model model = NewModel(config);
  InitializeModel(1, &model);
  return std::make_unique<Engine>(std::move(model), Engine::Options{.threads = 1});
}

SampleRequest Request(uint64_t seed) {
  SampleRequest request;
  request.prompt = {1, 2, 3};
  request.max_new = 10;
  request.rng = Rng(seed);
  return request;
}

TEST(BatchedEngine, ASampleIsTheSameWhoeverIsDrawnBesideIt) {
  BatchedEngine engine(Fresh());
  std::vector<std::vector<TokenId>> together(8);
  {
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < together.size(); ++i) {
      threads.emplace_back([&, i] { together[i] = engine.Sample(Request(i))->tokens; });
    }
  }
  for (uint64_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(BatchedEngine(Fresh()).Sample(Request(i))->tokens, together[i]) << i;
  }
}

}  // namespace
}  // namespace hone
