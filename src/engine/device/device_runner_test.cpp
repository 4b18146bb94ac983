// The model on a device: parity with Hugging Face's transformers, and the promises of the engine.
// Runs on the reference device everywhere, and on the GPU where there is one.

#include "engine/device/device_runner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "engine/device/device.h"
#include "engine/lora.h"
#include "engine/processor_runner.h"
#include "engine/sampler.h"
#include "support/expected_model.h"

namespace hone {
namespace {

std::filesystem::path ModelFolder(const std::string& name) { return GoldenModels() / name; }

struct Place {
  const char* device;
  const char* model;
};

class DeviceModel : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<Device>> device =
        Device::Open(ParseDeviceKind(GetParam().device).value());
    if (!device.ok()) GTEST_SKIP() << device.error().message();
    device_ = *device;
    model_ = LoadModel(ModelFolder(GetParam().model)).value();
  }
  DeviceRunner On(Model* model, Precision precision, bool recompute = false,
                  std::vector<TokenId> forbidden = {}) const {
    return DeviceRunner(model, {precision, recompute, false, std::move(forbidden)}, device_);
  }

  std::shared_ptr<Device> device_;
  Model model_;
};

// How far apart two gradients point, as the length of the difference over that of theirs.
double Apart(std::span<const float> ours, std::span<const float> theirs) {
  double apart = 0, length = 1e-24;
  for (size_t i = 0; i < theirs.size(); ++i) {
    apart += std::pow(static_cast<double>(ours[i]) - theirs[i], 2);
    length += std::pow(static_cast<double>(theirs[i]), 2);
  }
  return std::sqrt(apart / length);
}

std::vector<TokenId> RandomTokens(Rng rng, size_t count) {
  std::vector<TokenId> tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(rng.Below(512));
  return tokens;
}

TEST_P(DeviceModel, LogProbsEntropiesAndGradientsEqualTransformers) {
  const Expected expected(GetParam().model);
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    const bool exact = precision == Precision::kF32;
    for (const std::string seq : {"seq0", "seq1", "seq2"}) {
      DeviceRunner runner = On(&model_, precision);
      const Tree tree = ChainOf(expected.Ids(seq + ".ids"));
      const std::vector<float> weights = expected.Numbers(seq + ".weights");
      std::vector<float> logprobs, entropies;
      runner.Accumulate(
          {&tree, 1},
          [&](std::span<TreeTerms> all) {
            PathTerms& path = all[0].paths[0];
            logprobs.assign(path.logprobs.begin() + 1, path.logprobs.end());
            entropies.assign(path.entropies.begin() + 1, path.entropies.end());
            for (size_t t = 1; t < path.logprobs.size(); ++t) path.dlogprobs[t] = -weights[t];
          },
          SharedTokens::kRepeat);
      std::vector<float> their_entropies = expected.Numbers(seq + ".entropy");
      their_entropies.pop_back();  // of the distribution after the last token
      const std::vector<float> theirs = expected.Numbers(seq + ".token_logprobs");
      if (exact) {
        ExpectNear(logprobs, theirs, 2e-4, seq + ".token_logprobs");
        ExpectNear(entropies, their_entropies, 2e-4, seq + ".entropy");
      } else {
        for (size_t t = 0; t < theirs.size(); ++t) EXPECT_NEAR(logprobs[t], theirs[t], 4e-2) << t;
      }
      for (size_t p = 0; p < model_.parameters.size(); ++p) {
        const std::string name = seq + ".grad." + model_.parameters[p].name;
        const std::vector<float> gradient = runner.GradientOf(p);
        if (exact) {
          ExpectNear(gradient, expected.Numbers(name), 2e-4, name);
        } else {
          EXPECT_LT(Apart(gradient, expected.Numbers(name)), 0.1) << name;  // theirs is float32
        }
      }
    }
  }
}

TEST_P(DeviceModel, GreedyContinuationsAreIdentical) {
  const Expected expected(GetParam().model);
  DeviceRunner runner = On(&model_, Precision::kF32);
  for (const std::string seq : {"seq0", "seq1", "seq2"}) {
    const std::vector<TokenId> greedy = expected.Ids(seq + ".greedy");
    SampleRequest request;
    request.prompt.assign(greedy.begin(), greedy.end() - 24);
    request.max_new = 24;
    request.sampling.temperature = 0;
    const auto drawn = DrawSamples(&runner, {}, {&request, 1}).value();
    EXPECT_EQ(drawn[0].tokens, std::vector<TokenId>(greedy.end() - 24, greedy.end())) << seq;
  }
}

// A tree in which `tokens` are one path, cut at some places, and strangers branch off everywhere.
Tree TreeAround(const std::vector<TokenId>& tokens, const std::vector<size_t>& cuts,
                const Sampling& sampling) {
  Tree tree;
  NodeId parent = kNoNode;
  size_t at = 0;
  auto add = [&](NodeId under, std::vector<TokenId> of) {
    Node node;
    node.parent = under;
    node.tokens = std::move(of);
    node.sampling = sampling;
    tree.nodes.push_back(std::move(node));
    return static_cast<NodeId>(tree.nodes.size()) - 1;
  };
  for (size_t i = 0; i <= cuts.size(); ++i) {
    const size_t end = i < cuts.size() ? cuts[i] : tokens.size();
    const NodeId before = parent;
    if (i > 0) {  // a stranger before and one behind
      tree.leaves.push_back({.node = add(before, RandomTokens(Rng(70 + i), 5 + 11 * i))});
    }
    parent = add(before, {tokens.begin() + static_cast<int64_t>(at),
                          tokens.begin() + static_cast<int64_t>(end)});
    if (i > 0) tree.leaves.push_back({.node = add(before, RandomTokens(Rng(80 + i), 3))});
    at = end;
  }
  tree.leaves.push_back({.node = parent});
  return tree;
}

// The last `count` log-probabilities of the path to the last leaf.
std::vector<float> PathEnd(const Tree& tree, const TreeLogprobs& scores, size_t count) {
  std::vector<float> logprobs;
  for (const NodeId node : PathTo(tree, tree.leaves.back().node)) {
    const auto& part = scores[static_cast<size_t>(node)].logprobs;
    logprobs.insert(logprobs.end(), part.begin(), part.end());
  }
  return {logprobs.end() - static_cast<int64_t>(count), logprobs.end()};
}

void AddRandomAdapters(int64_t rank, Model* model) {
  ASSERT_TRUE(AddLora({.rank = rank}, model).ok());
  Rng rng(8);
  for (const LoraModule& module : model->lora) {
    for (float& value : model->parameters[static_cast<size_t>(module.b)].value) {
      value = static_cast<float>(0.05 * rng.NextNormal());
    }
  }
}

// A turn drawn alone is the same tokens and bits beside 7, 63 and 255 strangers, with its prompt in
// chunks, after it lost its pages, as a path of a tree, and in training.
TEST_P(DeviceModel, NothingButTheSequenceItselfMatters) {
  const bool gpu = std::string(GetParam().device) == "cuda";
  for (const bool lora : {false, true}) {
    if (lora) AddRandomAdapters(gpu ? 8 : 3, &model_);
    for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
      DeviceRunner runner = On(&model_, precision);
      SampleRequest request;
      request.prompt = RandomTokens(Rng(5), 70);
      request.max_new = 25;
      request.sampling.temperature = 0.9f;
      request.rng = Rng(3).Split("turn");
      const SampleResult alone = DrawSamples(&runner, {}, {&request, 1}).value()[0];
      auto expect_same = [&](const SampleResult& result, const std::string& how) {
        EXPECT_EQ(result.tokens, alone.tokens) << how;
        EXPECT_EQ(result.logprobs, alone.logprobs) << how;
        EXPECT_EQ(result.entropies, alone.entropies) << how;
      };
      for (const size_t strangers : {7, 63, 255}) {
        if (strangers > 7 && !gpu) continue;  // the reference computes one row after the other
        std::vector<SampleRequest> all(strangers);
        for (size_t i = 0; i < strangers; ++i) {
          all[i].prompt = RandomTokens(Rng(100 + i), 10 + i % 90);
          all[i].max_new = 5 + static_cast<int64_t>(i % 40);
          all[i].rng = Rng(200 + i);
        }
        all.insert(all.begin() + static_cast<int64_t>(strangers / 2), request);
        expect_same(DrawSamples(&runner, {}, all).value()[strangers / 2],
                    std::to_string(strangers) + " strangers");
        // Little memory: the youngest are computed again and again.
        const int64_t page = DevicePages::PageBytes(
            model_.config, precision == Precision::kBf16 ? Element::kBf16 : Element::kF32);
        expect_same(DrawSamples(&runner, {.memory = 6 * page, .rows_per_step = 40}, all)
                        .value()[strangers / 2],
                    "in little memory");
      }
      for (const int64_t rows : {1, 7, 64}) {
        expect_same(DrawSamples(&runner, {.rows_per_step = rows}, {&request, 1}).value()[0],
                    "chunks of " + std::to_string(rows));
      }
      std::vector<TokenId> tokens = request.prompt;
      tokens.insert(tokens.end(), alone.tokens.begin(), alone.tokens.end());
      const Tree trees[] = {
          ChainOf(RandomTokens(Rng(6), 20)), ChainOf(tokens, request.sampling),
          TreeAround(tokens, {5, 6, 31, 32, 33, 60, 63, 64, 65, 69}, request.sampling),
          TreeAround(tokens, {40}, request.sampling)};
      const auto scores = runner.LogProbs(trees);
      for (const size_t t : {1, 2, 3}) {
        EXPECT_EQ(PathEnd(trees[t], scores[t], alone.tokens.size()), alone.logprobs) << t;
      }
      runner.Accumulate(
          trees,
          [&](std::span<TreeTerms> all) {
            for (const size_t t : {1, 2, 3}) {
              const std::vector<float>& seen = all[t].paths.back().logprobs;
              EXPECT_TRUE(std::equal(alone.logprobs.rbegin(), alone.logprobs.rend(), seen.rbegin()))
                  << "what training sees is what was sampled";
            }
          },
          SharedTokens::kRepeat);
    }
  }
}

// The same gradients twice, and with activations computed again.
TEST_P(DeviceModel, GradientsAreTheSameBitsAgain) {
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    auto gradients = [&](bool recompute) {
      DeviceRunner runner = On(&model_, precision, recompute);
      const Tree trees[] = {ChainOf(RandomTokens(Rng(20), 10)), ChainOf(RandomTokens(Rng(21), 70)),
                            TreeAround(RandomTokens(Rng(22), 90), {9, 33, 70}, {})};
      runner.Accumulate(
          trees,
          [](std::span<TreeTerms> all) {
            for (TreeTerms& tree : all) {
              for (PathTerms& path : tree.paths) {
                for (float& d : path.dlogprobs) d = -1;
                for (float& d : path.dentropies) d = 0.1f;
              }
            }
          },
          SharedTokens::kRepeat);
      std::vector<std::vector<float>> all;
      for (size_t p = 0; p < model_.parameters.size(); ++p) all.push_back(runner.GradientOf(p));
      return all;
    };
    const auto once = gradients(false);
    EXPECT_EQ(gradients(false), once);
    EXPECT_EQ(gradients(true), once) << "activations computed again";
  }
}

// The processor's gradients of a tree with temperatures, supports, forbidden tokens, values and
// adapters: in float32 to 1e-4, in bf16 in direction.
TEST_P(DeviceModel, GradientsOfATreeAreTheProcessors) {
  AddScalarHead(&model_);
  Rng rng(5);
  for (float& x : model_.parameters[static_cast<size_t>(model_.scalar_head)].value) {
    x = static_cast<float>(0.1 * rng.NextNormal());
  }
  AddRandomAdapters(8, &model_);
  for (Parameter& parameter : model_.parameters) parameter.trained = true;
  Tree tree = TreeAround(RandomTokens(Rng(22), 90), {9, 33, 70}, {.temperature = 0.8f});
  for (size_t n = 0; n < tree.nodes.size(); ++n) {
    Node& node = tree.nodes[n];
    if (n % 2 == 1) {
      node.sampling.forbidden_set = 1;
      for (TokenId& token : node.tokens) token = token == 30 || token == 2 ? 3 : token;
      continue;
    }
    node.supports.resize(node.tokens.size());
    for (size_t t = 0; t < node.tokens.size(); t += 2) {
      for (TokenId v = 0; v < 512; ++v) {
        if (v % 3 == 0 || v == node.tokens[t]) node.supports[t].kept.push_back(v);
      }
    }
  }
  const Loss loss = [](std::span<TreeTerms> all) {
    for (size_t p = 0; p < all[0].paths.size(); ++p) {
      PathTerms& path = all[0].paths[p];
      for (size_t t = 0; t < path.logprobs.size(); ++t) {
        if (p % 3 == 0 && t < 40) continue;  // as prompts, which no loss is interested in
        path.dlogprobs[t] = 0.7f - 0.1f * static_cast<float>(p);
        path.dentropies[t] = 0.3f;
        path.dvalues[t] = 0.2f;
      }
    }
  };
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    ThreadPool pool(2);
    ProcessorRunner processor(&model_, {precision, false, {2, 30}}, &pool);
    DeviceRunner device = On(&model_, precision, false, {2, 30});
    for (const SharedTokens shared : {SharedTokens::kRepeat, SharedTokens::kAverage}) {
      for (ModelRunner* runner :
           {static_cast<ModelRunner*>(&processor), static_cast<ModelRunner*>(&device)}) {
        runner->ForgetGradients();
        runner->Accumulate({&tree, 1}, loss, shared);
      }
      for (size_t p = 0; p < model_.parameters.size(); ++p) {
        const double apart = Apart(device.GradientOf(p), processor.GradientOf(p));
        EXPECT_LT(apart, precision == Precision::kF32 ? 1e-4 : 4e-2) << model_.parameters[p].name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Places, DeviceModel,
                         testing::Values(Place{"reference", "qwen2"}, Place{"reference", "qwen3"},
                                         Place{"reference", "llama3"}, Place{"cuda", "qwen2"},
                                         Place{"cuda", "qwen3"}, Place{"cuda", "llama3"}),
                         [](const auto& place) {
                           return std::string(place.param.device) + "_" + place.param.model;
                         });

}  // namespace
}  // namespace hone
