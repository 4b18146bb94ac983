#pragma once

#include <memory>
#include <string>

#include "rollout/policy.h"
#include "serve/served_model.h"

namespace hone {

// A model that knows nothing, with a real tokenizer and a real dialect, ready to be served.
inline std::unique_ptr<ServedModel> TinyServed(const std::string& dialect = "hermes") {
  auto served = std::make_unique<ServedModel>();
  served->tokenizer = std::make_unique<Tokenizer>(
      Tokenizer::Load(HONE_SOURCE_DIR "/tests/golden/tokenizer/tokenizer.json").value());
  served->dialect = NewDialect(dialect).value();
  ModelConfig config;
  config.layers = 1;
  config.width = 32;
  config.heads = config.kv_heads = 2;
  config.head_dim = 16;
  config.ffn = 64;
  config.vocab = served->tokenizer->vocab_size() + 9;  // with ids that stand for nothing
  config.max_positions = 256;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(3, &model);
  Engine::Options options;
  options.threads = 1;
  options.forbidden = ForbiddenTokens(*served->dialect, *served->tokenizer, config.vocab);
  options.sampler.memory = 64 << 20;
  served->Take(std::make_unique<Engine>(std::move(model), options));
  served->weights = served->engine->WeightsHash();
  served->name = "tiny";
  return served;
}

}  // namespace hone
