#pragma once

// Models of known shapes with random weights, and what to train them on, for benchmarks.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"

namespace hone {

inline double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Qwen2.5's shapes, by name.
inline ModelConfig Shape(const std::string& name) {
  ModelConfig c;
  c.family = ModelConfig::Family::kQwen2;
  c.qkv_bias = true;
  c.max_positions = 32768;
  c.rope_theta = 1e6;
  c.vocab = 151936;
  auto set = [&](int64_t layers, int64_t width, int64_t heads, int64_t kv_heads, int64_t head_dim,
                 int64_t ffn, bool tied) {
    c.layers = layers;
    c.width = width;
    c.heads = heads;
    c.kv_heads = kv_heads;
    c.head_dim = head_dim;
    c.ffn = ffn;
    c.tied_embeddings = tied;
  };
  if (name == "41m") {  // recipes/desk-gpu.toml
    set(12, 512, 8, 8, 64, 1536, true);
    c.vocab = 512;
    c.qkv_bias = false;
    c.qk_norm = true;
  } else if (name == "0.5b") {
    set(24, 896, 14, 2, 64, 4864, true);
  } else if (name == "1.5b") {
    set(28, 1536, 12, 2, 128, 8960, true);
  } else if (name == "7b") {
    set(28, 3584, 28, 4, 128, 18944, false);
    c.vocab = 152064;
  } else {
    fmt::print(stderr, "{} is none of 41m, 0.5b, 1.5b, 7b\n", name);
    std::exit(2);
  }
  return c;
}

// Normal weights, quickly: a million of them over and over, from another place for each parameter.
inline Model RandomModel(const ModelConfig& config) {
  Model model = NewModel(config);
  std::vector<float> normals(1 << 20);
  Rng rng(1);
  for (float& x : normals) x = 0.02f * static_cast<float>(rng.NextNormal());
  size_t at = 0;
  for (Parameter& parameter : model.parameters) {
    if (parameter.shape.size() < 2) continue;
    at = (at + 7919) % normals.size();
    for (size_t i = 0; i < parameter.value.size();) {
      const size_t some = std::min(parameter.value.size() - i, normals.size() - at);
      std::copy_n(normals.begin() + static_cast<int64_t>(at), some,
                  parameter.value.begin() + static_cast<int64_t>(i));
      i += some;
      at = (at + some) % normals.size();
    }
  }
  return model;
}

inline std::vector<TokenId> Tokens(uint64_t seed, int64_t count, int64_t vocab) {
  Rng rng(seed);
  std::vector<TokenId> tokens(static_cast<size_t>(count));
  for (TokenId& token : tokens)
    token = static_cast<TokenId>(rng.Below(static_cast<uint64_t>(vocab)));
  return tokens;
}

// The same derivative for every token.
inline void SetDerivatives(std::span<TreeTerms> all, float derivative) {
  for (TreeTerms& tree : all) {
    for (PathTerms& path : tree.paths) {
      std::fill(path.dlogprobs.begin(), path.dlogprobs.end(), derivative);
    }
  }
}

}  // namespace hone
