#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/decoder.h"
#include "learn/training_group.h"

// A model small enough to differentiate by hand, and groups for it to learn from.

namespace hone {

inline Model TinyModel(bool critic = false, int64_t head_dim = 8) {
  ModelConfig config;
  config.layers = 2;
  config.width = 32;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = head_dim;
  config.ffn = 64;
  config.vocab = 61;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(5, &model);
  if (critic) AddScalarHead(&model);
  for (Parameter& parameter : model.parameters) {
    if (parameter.name.find("norm") != std::string::npos) continue;
    Rng rng(9);
    for (float& value : parameter.value) {
      value = 6 * value + 0.02f * static_cast<float>(rng.NextNormal());
    }
  }
  return model;
}

// A prompt; two first turns, each with a tool's answer and three last turns of all lengths.
inline Tree BranchingGroup(uint64_t seed) {
  Tree tree;
  Rng rng(seed);
  auto add = [&](NodeId parent, Author author, size_t count) {
    Node node;
    node.parent = parent;
    node.author = author;
    for (size_t i = 0; i < count; ++i) node.tokens.push_back(static_cast<TokenId>(rng.Below(61)));
    if (author == Author::kPolicy) {
      node.logprobs.assign(count, -1.0f);
      node.entropies.assign(count, 1.0f);
    }
    tree.nodes.push_back(std::move(node));
    return static_cast<NodeId>(tree.nodes.size()) - 1;
  };
  tree.task.id = "t" + std::to_string(seed);
  const NodeId prompt = add(kNoNode, Author::kUser, 7 + seed % 3);
  for (size_t turn = 0; turn < 2; ++turn) {
    const NodeId call = add(prompt, Author::kPolicy, 4 + turn);
    const NodeId answer = add(call, Author::kTool, 3);
    for (size_t leaf = 0; leaf < 3; ++leaf) {
      tree.leaves.push_back({.node = add(answer, Author::kPolicy, 2 + 3 * leaf)});
    }
  }
  return tree;
}

// Credit as a group-relative method gives it: one value per trajectory, one of them 0.
inline std::vector<Advantages> SomeAdvantages(const Tree& tree) {
  constexpr float kValues[] = {1.0f, -0.5f, 0.0f, 0.7f, -1.2f, 0.3f};
  std::vector<Advantages> advantages;
  for (size_t leaf = 0; leaf < tree.leaves.size(); ++leaf) {
    Advantages& one = advantages.emplace_back();
    one.leaf = static_cast<int32_t>(leaf);
    for (const NodeId id : WholePathTo(tree, tree.leaves[leaf].node)) {
      const Node& node = tree.nodes[static_cast<size_t>(id)];
      if (node.author == Author::kPolicy) {
        one.values.insert(one.values.end(), node.tokens.size(), kValues[leaf % 6]);
      }
    }
  }
  return advantages;
}

// Groups whose stored log-probabilities are the model's, moved by up to `off`: 0 is on-policy.
inline std::vector<Tree> GroupsDrawnNearby(Decoder* decoder, size_t count, double off) {
  std::vector<Tree> trees;
  for (size_t i = 0; i < count; ++i) trees.push_back(BranchingGroup(11 + i));
  const std::vector<TreeLogprobs> scores = decoder->LogProbs(trees);
  for (size_t i = 0; i < count; ++i) {
    for (size_t n = 0; n < trees[i].nodes.size(); ++n) {
      Node& node = trees[i].nodes[n];
      for (size_t t = 0; t < node.logprobs.size(); ++t) {
        const double move = off * std::sin(static_cast<double>(3 * n + 7 * t + i));
        node.logprobs[t] = off == 0 ? scores[i][n].logprobs[t]
                                    : static_cast<float>(scores[i][n].logprobs[t] + move);
      }
    }
  }
  return trees;
}

}  // namespace hone
