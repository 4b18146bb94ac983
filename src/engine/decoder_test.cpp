#include "engine/decoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "engine/distribution.h"
#include "engine/lora.h"
#include "support/expected_model.h"

namespace hone {
namespace {

const std::filesystem::path kModels = GoldenModels();

Gradients ZeroGradients(const Model& model) {
  Gradients gradients;
  for (const Parameter& parameter : model.parameters) {
    gradients.emplace_back(parameter.value.size(), 0.0f);
  }
  return gradients;
}

// One sequence and its cache.
class Session {
 public:
  explicit Session(Decoder* decoder)
      : decoder_(decoder),
        pages_(decoder->config(), decoder->options().precision),
        sequence_(&pages_) {}

  // The hidden states of some more tokens.
  const float* Feed(std::span<const TokenId> tokens) {
    const int64_t position = sequence_.length();
    sequence_.Extend(static_cast<int64_t>(tokens.size()));
    const Decoder::Chunk chunk{sequence_.table(), position, tokens, {}};
    decoder_->Forward({&chunk, 1}, &pages_, &hidden_);
    return hidden_.data();
  }

 private:
  Decoder* decoder_;
  KvPages pages_;
  KvSequence sequence_;
  Floats hidden_;
};

class DecoderParity : public testing::TestWithParam<const char*> {};

TEST_P(DecoderParity, LogitsLogProbsEntropiesAndGradientsEqualTransformers) {
  const Expected expected(GetParam());
  const Model model = LoadModel(kModels / GetParam()).value();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  for (const std::string seq : {"seq0", "seq1", "seq2"}) {
    const Tree tree = ChainOf(expected.Ids(seq + ".ids"));
    const std::vector<TokenId>& tokens = tree.nodes[0].tokens;

    Session session(&decoder);
    Floats logits;
    decoder.Logits(session.Feed(tokens), static_cast<int64_t>(tokens.size()), &logits);
    ExpectNear(logits, expected.Numbers(seq + ".logits"), 2e-4, seq + ".logits");

    const std::vector<float> weights = expected.Numbers(seq + ".weights");
    std::vector<float> logprobs, entropies;
    double loss = 0;
    auto gradients = ZeroGradients(model);
    decoder.Accumulate(
        {&tree, 1},
        [&](std::span<TreeTerms> all) {
          PathTerms& path = all[0].paths[0];
          logprobs.assign(path.logprobs.begin() + 1, path.logprobs.end());
          entropies.assign(path.entropies.begin() + 1, path.entropies.end());
          for (size_t t = 1; t < path.logprobs.size(); ++t) {
            loss -= weights[t] * path.logprobs[t];
            path.dlogprobs[t] = -weights[t];
          }
        },
        SharedTokens::kRepeat, &gradients);
    ExpectNear(logprobs, expected.Numbers(seq + ".token_logprobs"), 2e-4, seq + ".token_logprobs");
    std::vector<float> their_entropies = expected.Numbers(seq + ".entropy");
    their_entropies.pop_back();  // of the distribution after the last token
    ExpectNear(entropies, their_entropies, 2e-4, seq + ".entropy");
    EXPECT_NEAR(loss, expected.Numbers(seq + ".loss")[0], 2e-4 * std::abs(loss));
    for (size_t i = 0; i < model.parameters.size(); ++i) {
      const std::string name = seq + ".grad." + model.parameters[i].name;
      ASSERT_TRUE(expected.Has(name)) << name;
      ExpectNear(gradients[i], expected.Numbers(name), 2e-4, name);
    }
  }
}

TEST_P(DecoderParity, GreedyContinuationsAreIdentical) {
  const Expected expected(GetParam());
  const Model model = LoadModel(kModels / GetParam()).value();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  for (const std::string seq : {"seq0", "seq1", "seq2"}) {
    const std::vector<TokenId> greedy = expected.Ids(seq + ".greedy");
    Session session(&decoder);
    std::vector<TokenId> next(greedy.begin(), greedy.end() - 24);
    for (size_t at = greedy.size() - 24; at < greedy.size(); ++at) {
      const float* hidden = session.Feed(next);
      const auto last = static_cast<int64_t>(next.size()) - 1;
      Floats logits;
      decoder.Logits(hidden + last * model.config.width, 1, &logits);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      ASSERT_EQ(best, greedy[at]) << seq << " token " << at;
      next = {static_cast<TokenId>(best)};
    }
  }
}

TEST_P(DecoderParity, Bfloat16IsClose) {
  const Expected expected(GetParam());
  const Model model = LoadModel(kModels / GetParam()).value();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kBf16}, &pool);
  const Tree tree = ChainOf(expected.Ids("seq2.ids"));
  const std::vector<float> logprobs = decoder.LogProbs({&tree, 1})[0][0].logprobs;
  const std::vector<float> theirs = expected.Numbers("seq2.token_logprobs");
  for (size_t t = 1; t < logprobs.size(); ++t) EXPECT_NEAR(logprobs[t], theirs[t - 1], 3e-2) << t;
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderParity, testing::Values("qwen2", "qwen3", "llama3"));

// --- the same bits
// ---------------------------------------------------------------------------------

std::vector<TokenId> RandomTokens(Rng rng, size_t count) {
  std::vector<TokenId> tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(rng.Below(512));
  return tokens;
}

// Log-probabilities of a sequence, computed in chunks of some size beside strangers.
std::vector<float> Score(Decoder* decoder, const std::vector<TokenId>& tokens, size_t chunk_size,
                         size_t strangers) {
  const ModelConfig& c = decoder->config();
  KvPages pages(c, decoder->options().precision);
  std::vector<std::vector<TokenId>> others;
  std::vector<KvSequence> sequences;
  for (size_t i = 0; i < strangers; ++i) {
    others.push_back(RandomTokens(Rng(900 + i), 40 + i));
    sequences.emplace_back(&pages);
  }
  KvSequence own(&pages);
  std::vector<float> logprobs;
  Floats hidden, logits;
  for (size_t at = 0; at + 1 < tokens.size(); at += chunk_size) {
    const size_t count = std::min(chunk_size, tokens.size() - 1 - at);
    std::vector<Decoder::Chunk> chunks;
    int64_t first_row = 0;
    for (size_t i = 0; i < strangers; ++i) {
      const auto from = static_cast<size_t>(sequences[i].length());
      const size_t size = std::min<size_t>(i % 5 + 1, others[i].size() - from);
      if (size == 0) continue;
      sequences[i].Extend(static_cast<int64_t>(size));
      chunks.push_back({sequences[i].table(),
                        static_cast<int64_t>(from),
                        std::span(others[i]).subspan(from, size),
                        {}});
      first_row += static_cast<int64_t>(size);
    }
    own.Extend(static_cast<int64_t>(count));
    chunks.push_back(
        {own.table(), static_cast<int64_t>(at), std::span(tokens).subspan(at, count), {}});
    decoder->Forward(chunks, &pages, &hidden);
    decoder->Logits(hidden.data() + first_row * c.width, static_cast<int64_t>(count), &logits);
    for (size_t i = 0; i < count; ++i) {
      const std::span<const float> row(logits.data() + static_cast<int64_t>(i) * c.vocab,
                                       static_cast<size_t>(c.vocab));
      logprobs.push_back(
          DistributionOf(row, 1).LogProb(row[static_cast<size_t>(tokens[at + i + 1])]));
    }
  }
  return logprobs;
}

// A tree in which `tokens` are one path, cut at some places, and strangers branch off everywhere.
Tree TreeAround(const std::vector<TokenId>& tokens, const std::vector<size_t>& cuts) {
  Tree tree;
  NodeId parent = kNoNode;
  size_t at = 0;
  auto add = [&](NodeId under, std::vector<TokenId> of) {
    Node node;
    node.parent = under;
    node.tokens = std::move(of);
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

std::vector<float> PathLogprobs(const Tree& tree, const TreeLogprobs& scores) {
  std::vector<float> logprobs;
  for (const NodeId node : PathTo(tree, tree.leaves.back().node)) {
    const auto& part = scores[static_cast<size_t>(node)].logprobs;
    logprobs.insert(logprobs.end(), part.begin(), part.end());
  }
  logprobs.erase(logprobs.begin());
  return logprobs;
}

TEST(DecoderBits, NothingButTheSequenceItselfMatters) {
  for (const char* name : {"qwen2", "qwen3", "llama3"}) {
    Model model = LoadModel(kModels / name).value();
    const std::vector<TokenId> tokens = RandomTokens(Rng(5), 90);
    for (const bool lora : {false, true}) {
      if (lora) {
        ASSERT_TRUE(AddLora({.rank = 3}, &model).ok());
        Rng rng(8);
        for (const LoraModule& module : model.lora) {
          for (float& value : model.parameters[module.b].value)
            value = static_cast<float>(0.05 * rng.NextNormal());
        }
      }
      for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
        ThreadPool one(1), two(2);
        Decoder decoder(&model, {.precision = precision}, &one);
        const std::vector<float> alone = Score(&decoder, tokens, tokens.size(), 0);
        for (const size_t chunk : {1, 7, 64})
          EXPECT_EQ(Score(&decoder, tokens, chunk, 0), alone) << name << chunk;
        for (const size_t strangers : {7, 63})
          EXPECT_EQ(Score(&decoder, tokens, 16, strangers), alone) << strangers;
        Decoder threaded(&model, {.precision = precision}, &two);
        EXPECT_EQ(Score(&threaded, tokens, 7, 7), alone);
        for (const Kernels* kernels : AvailableKernels()) {
          Decoder other(&model, {.precision = precision}, &two, *kernels);
          EXPECT_EQ(Score(&other, tokens, 30, 0), alone) << kernels->name;
        }
        // As a path of a tree, with blocks of keys that straddle nodes.
        const Tree trees[] = {ChainOf(RandomTokens(Rng(6), 20)), ChainOf(tokens),
                              TreeAround(tokens, {5, 6, 31, 32, 33, 60, 64}),
                              TreeAround(tokens, {40})};
        const auto scores = threaded.LogProbs(trees);
        for (const size_t t : {1, 2, 3}) EXPECT_EQ(PathLogprobs(trees[t], scores[t]), alone) << t;
        Gradients gradients = ZeroGradients(model);
        threaded.Accumulate(
            trees,
            [&](std::span<TreeTerms> all) {
              for (const size_t t : {1, 2, 3}) {
                const std::vector<float>& seen = all[t].paths.back().logprobs;
                EXPECT_TRUE(std::equal(alone.begin(), alone.end(), seen.begin() + 1))
                    << "what training sees is what was sampled";
              }
            },
            SharedTokens::kRepeat, &gradients);
      }
    }
  }
}

TEST(DecoderBits, GradientsAreTheSameOnAnyNumberOfThreadsAndAnyInstructionSet) {
  const Model model = LoadModel(kModels / "qwen3").value();
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    auto gradients_with = [&](int threads, const Kernels& kernels, bool recompute) {
      ThreadPool pool(threads);
      Decoder decoder(&model, {.precision = precision, .recompute_activations = recompute}, &pool,
                      kernels);
      const Tree trees[] = {ChainOf(RandomTokens(Rng(20), 10)), ChainOf(RandomTokens(Rng(21), 70)),
                            TreeAround(RandomTokens(Rng(22), 50), {9, 33})};
      auto gradients = ZeroGradients(model);
      decoder.Accumulate(
          trees,
          [](std::span<TreeTerms> all) {
            for (TreeTerms& tree : all) {
              for (PathTerms& path : tree.paths) {
                for (float& d : path.dlogprobs) d = -1;
                for (float& d : path.dentropies) d = 0.1f;
              }
            }
          },
          SharedTokens::kRepeat, &gradients);
      return gradients;
    };
    const auto reference = gradients_with(1, *PlainKernels(), false);
    EXPECT_EQ(gradients_with(2, BestKernels(), true), reference) << "computed again";
    for (const Kernels* kernels : AvailableKernels()) {
      EXPECT_EQ(gradients_with(3, *kernels, false), reference) << kernels->name;
    }
  }
}

// The loss with entropy, temperature and supports, against finite differences.
TEST(DecoderGradient, EqualsFiniteDifferences) {
  ModelConfig config;
  config.layers = 2;
  config.width = 16;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 8;
  config.ffn = 24;
  config.vocab = 37;
  config.qk_norm = true;
  config.qkv_bias = true;
  config.output_bias = true;
  Model model = NewModel(config);
  InitializeModel(3, &model);
  for (Parameter& parameter : model.parameters) {  // larger, so that differences stand out
    if (parameter.name.find("norm") != std::string::npos) continue;
    for (float& value : parameter.value) value = 8 * value + 0.01f;
  }
  AddScalarHead(&model);
  for (size_t i = 0; i < 16; ++i) model.parameters.back().value[i] = 0.1f * static_cast<float>(i);
  ASSERT_TRUE(AddLora({.rank = 2, .alpha = 3}, &model).ok());
  Rng lora_rng(5);
  for (const LoraModule& module : model.lora) {
    for (float& value : model.parameters[module.b].value)
      value = static_cast<float>(0.3 * lora_rng.NextNormal());
  }
  for (Parameter& parameter : model.parameters) parameter.trained = true;
  ThreadPool pool(2);
  // A fork after the fifth token; temperatures and supports of their own.
  Tree tree;
  for (const auto& [parent, count] : {std::pair(kNoNode, 5), std::pair(0, 4), std::pair(0, 3)}) {
    Node node;
    node.parent = parent;
    for (int i = 0; i < count; ++i) {
      node.tokens.push_back(static_cast<TokenId>((i + 3 * count) * 7 % 37));
    }
    node.sampling.temperature = 0.8f;
    node.supports.resize(node.tokens.size());
    for (size_t t = 0; t < node.tokens.size(); t += 2) {
      for (TokenId v = 0; v < 37; ++v) {
        if (v % 3 == 0 || v == node.tokens[t]) node.supports[t].kept.push_back(v);
      }
    }
    tree.nodes.push_back(std::move(node));
  }
  tree.nodes[2].sampling.forbidden_set = 1;
  tree.nodes[2].supports.clear();
  tree.leaves = {{.node = 1}, {.node = 2}};
  auto loss_of = [&](const Model& at, Gradients* gradients) {
    Decoder decoder(&at, {.precision = Precision::kF32, .forbidden = {2, 30}}, &pool);
    double loss = 0;
    Gradients unused = ZeroGradients(at);
    decoder.Accumulate(
        {&tree, 1},
        [&](std::span<TreeTerms> all) {
          for (size_t p = 0; p < 2; ++p) {
            PathTerms& path = all[0].paths[p];
            const float weight = p == 0 ? 1.0f : 0.5f;
            for (size_t t = 0; t < path.logprobs.size(); ++t) {
              loss += weight *
                      (0.7 * path.logprobs[t] + 0.3 * path.entropies[t] + 0.2 * path.values[t]);
              path.dlogprobs[t] = weight * 0.7f;
              path.dentropies[t] = weight * 0.3f;
              path.dvalues[t] = weight * 0.2f;
            }
          }
        },
        SharedTokens::kRepeat, gradients == nullptr ? &unused : gradients);
    return loss;
  };
  auto gradients = ZeroGradients(model);
  loss_of(model, &gradients);
  Rng rng(4);
  for (size_t p = 0; p < model.parameters.size(); ++p) {
    for (int sample = 0; sample < 3; ++sample) {
      const size_t i = rng.Below(model.parameters[p].value.size());
      constexpr float kStep = 4e-3f;
      Model moved = model;
      moved.parameters[p].value[i] += kStep;
      const double up = loss_of(moved, nullptr);
      moved.parameters[p].value[i] -= 2 * kStep;
      const double down = loss_of(moved, nullptr);
      const double numeric = (up - down) / (2.0 * kStep);
      EXPECT_NEAR(gradients[p][i], numeric, 2e-3 + 2e-2 * std::abs(numeric))
          << model.parameters[p].name << " " << i;
    }
  }
}

}  // namespace
}  // namespace hone
