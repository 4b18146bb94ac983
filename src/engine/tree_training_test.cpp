// Training on a tree is training on its paths.

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "engine/decoder.h"

namespace hone {
namespace {

constexpr size_t kPrompt = 40, kLeaves = 16;

// A prompt, two turns that share it, eight leaves under each: nodes of all lengths, so that blocks
// of keys straddle them.
Tree BranchingTree() {
  Tree tree;
  Rng rng(3);
  auto add = [&](NodeId parent, size_t count) {
    Node node;
    node.parent = parent;
    for (size_t i = 0; i < count; ++i) node.tokens.push_back(static_cast<TokenId>(rng.Below(61)));
    tree.nodes.push_back(std::move(node));
    return static_cast<NodeId>(tree.nodes.size()) - 1;
  };
  const NodeId prompt = add(kNoNode, kPrompt);
  for (size_t turn = 0; turn < 2; ++turn) {
    const NodeId middle = add(prompt, 13 + turn);
    for (size_t leaf = 0; leaf < kLeaves / 2; ++leaf) {
      tree.leaves.push_back({.node = add(middle, 5 + 3 * leaf)});
    }
  }
  return tree;
}

// The leaf's path as a tree of its own.
Tree PathAlone(const Tree& tree, size_t leaf) {
  return ChainOf(TokensOf(tree, PathTo(tree, tree.leaves[leaf].node)));
}

Model SmallModel() {
  ModelConfig config;
  config.layers = 2;
  config.width = 32;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 8;
  config.ffn = 64;
  config.vocab = 61;
  config.qk_norm = true;
  Model model = NewModel(config);
  InitializeModel(5, &model);
  AddScalarHead(&model);
  for (Parameter& parameter : model.parameters) {
    if (parameter.name.find("norm") != std::string::npos) continue;
    Rng rng(9);
    for (float& value : parameter.value)
      value = 6 * value + 0.02f * static_cast<float>(rng.NextNormal());
  }
  return model;
}

// What one path contributes; `old` stands for the sampler's log-probabilities.
using PathLoss = void (*)(size_t leaf, PathTerms* path);

float Old(size_t leaf, size_t t, float logprob) {
  return logprob + 0.15f * static_cast<float>(std::sin(static_cast<double>(3 * leaf + t)));
}
float Advantage(size_t leaf) { return leaf % 3 == 0 ? 1.0f : -0.4f; }

void PpoClip(size_t leaf, PathTerms* path) {
  for (size_t t = kPrompt; t < path->logprobs.size(); ++t) {
    const float ratio = std::exp(path->logprobs[t] - Old(leaf, t, path->logprobs[t]));
    const float a = Advantage(leaf);
    const bool clipped = a > 0 ? ratio > 1.1f : ratio < 0.9f;
    path->dlogprobs[t] = clipped ? 0.0f : -a * ratio;
    path->dentropies[t] = -0.01f;
  }
}

// One ratio for the whole sequence: the derivative of a token depends on all of them.
void Gspo(size_t leaf, PathTerms* path) {
  const auto count = static_cast<float>(path->logprobs.size() - kPrompt);
  float mean = 0;
  for (size_t t = kPrompt; t < path->logprobs.size(); ++t) {
    mean += (path->logprobs[t] - Old(leaf, t + leaf, path->logprobs[t])) / count;
  }
  const float ratio = std::exp(mean), a = Advantage(leaf);
  const bool clipped = a > 0 ? ratio > 1.02f : ratio < 0.98f;
  for (size_t t = kPrompt; t < path->logprobs.size(); ++t) {
    path->dlogprobs[t] = clipped ? 0.0f : -a * ratio / count;
  }
}

void ClippedValues(size_t leaf, PathTerms* path) {
  for (size_t t = 0; t < path->values.size(); ++t) {
    const float target = Advantage(leaf), error = path->values[t] - target;
    path->dvalues[t] = std::abs(error) > 1.2f ? 0.0f : 2 * error;
  }
}

Gradients Zeros(const Model& model) {
  Gradients gradients;
  for (const Parameter& parameter : model.parameters) {
    gradients.emplace_back(parameter.value.size(), 0.0f);
  }
  return gradients;
}

// To 1e-5 of each parameter's largest gradient.
void ExpectClose(const Model& model, const Gradients& ours, const Gradients& expected) {
  for (size_t p = 0; p < ours.size(); ++p) {
    double largest = 1e-12, worst = 0;
    for (size_t i = 0; i < expected[p].size(); ++i) {
      largest = std::max<double>(largest, std::abs(expected[p][i]));
      worst = std::max<double>(worst, std::abs(ours[p][i] - expected[p][i]));
    }
    EXPECT_LE(worst, 1e-5 * largest) << model.parameters[p].name;
  }
}

TEST(TreeTraining, TheGradientOfATreeIsTheSumOverItsPaths) {
  const Model model = SmallModel();
  const Tree tree = BranchingTree();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  for (const PathLoss loss : {&PpoClip, &Gspo, &ClippedValues}) {
    Gradients together = Zeros(model), apart = Zeros(model);
    decoder.Accumulate(
        {&tree, 1},
        [&](std::span<TreeTerms> terms) {
          ASSERT_EQ(terms[0].paths.size(), kLeaves);
          for (size_t leaf = 0; leaf < kLeaves; ++leaf) loss(leaf, &terms[0].paths[leaf]);
        },
        SharedTokens::kRepeat, &together);
    for (size_t leaf = 0; leaf < kLeaves; ++leaf) {
      const Tree path = PathAlone(tree, leaf);
      decoder.Accumulate(
          {&path, 1}, [&](std::span<TreeTerms> terms) { loss(leaf, &terms[0].paths[0]); },
          SharedTokens::kRepeat, &apart);
    }
    ExpectClose(model, together, apart);
  }
}

TEST(TreeTraining, SharedTokensAreAveragedOnRequest) {
  const Model model = SmallModel();
  // Two equal leaves: averaged, the prompt counts once, and the leaves as ever.
  Tree tree = ChainOf({1, 2, 3, 4});
  tree.nodes.push_back({.parent = 0, .tokens = {5, 6}});
  tree.nodes.push_back({.parent = 0, .tokens = {5, 6}});
  tree.leaves = {{.node = 1}, {.node = 2}};
  const Tree once = ChainOf({1, 2, 3, 4});
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  auto on_prompt = [](std::span<TreeTerms> terms) {
    for (PathTerms& path : terms[0].paths) {
      for (size_t t = 1; t < 4; ++t) path.dlogprobs[t] = -1;
    }
  };
  Gradients averaged = Zeros(model), repeated = Zeros(model), single = Zeros(model);
  decoder.Accumulate({&tree, 1}, on_prompt, SharedTokens::kAverage, &averaged);
  decoder.Accumulate({&tree, 1}, on_prompt, SharedTokens::kRepeat, &repeated);
  decoder.Accumulate({&once, 1}, on_prompt, SharedTokens::kRepeat, &single);
  for (size_t p = 0; p < single.size(); ++p) {
    for (size_t i = 0; i < single[p].size(); ++i) {
      ASSERT_NEAR(averaged[p][i], single[p][i], 1e-6);
      ASSERT_NEAR(repeated[p][i], 2 * single[p][i], 2e-6);
    }
  }
}

// The packing of a batch changes the order of sums, and nothing else.
TEST(TreeTraining, PackingsAgree) {
  const Model model = SmallModel();
  std::vector<Tree> trees;
  for (size_t leaf = 0; leaf < kLeaves; ++leaf) trees.push_back(PathAlone(BranchingTree(), leaf));
  ThreadPool pool(2);
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    Decoder decoder(&model, {.precision = precision}, &pool);
    auto loss = [](std::span<TreeTerms> terms) {
      for (TreeTerms& tree : terms) {
        for (float& d : tree.paths[0].dlogprobs) d = -0.1f;
      }
    };
    Gradients together = Zeros(model), apart = Zeros(model);
    decoder.Accumulate(trees, loss, SharedTokens::kRepeat, &together);
    for (const Tree& tree : trees)
      decoder.Accumulate({&tree, 1}, loss, SharedTokens::kRepeat, &apart);
    ExpectClose(model, together, apart);
  }
}

}  // namespace
}  // namespace hone
