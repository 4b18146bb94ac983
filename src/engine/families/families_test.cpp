// Families beyond those of decoder_test.cpp, compared with what transformers computed for small
// random models of them (tests/golden/models/make_families.py).

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "base/rng.h"
#include "engine/decoder.h"
#include "engine/distribution.h"
#include "engine/lora.h"
#include "engine/weights/stored_tensors.h"
#include "support/expected_model.h"

namespace hone {
namespace {

const std::filesystem::path kFolder = GoldenModels();

// The tokens of a sequence as one chunk of a cache of its own.
struct Sequence {
  KvPages pages;
  KvSequence table;
  Floats hidden;

  explicit Sequence(const Decoder& decoder)
      : pages(decoder.config(), decoder.options().precision), table(&pages) {}

  const float* Feed(Decoder* decoder, std::span<const TokenId> tokens) {
    const int64_t position = table.length();
    table.Extend(static_cast<int64_t>(tokens.size()));
    const Chunk chunk{table.table(), position, tokens, {}};
    decoder->Forward({&chunk, 1}, &pages, &hidden);
    return hidden.data();
  }
};

Gradients NoGradients(const Model& model) {
  Gradients gradients;
  for (const Parameter& parameter : model.parameters) {
    gradients.emplace_back(parameter.value.size(), 0.0f);
  }
  return gradients;
}

class Families : public testing::TestWithParam<const char*> {};

TEST_P(Families, LogitsAndGreedyContinuationsAreThoseOfTransformers) {
  const Expected expected(GetParam());
  const Model model = LoadModel(kFolder / GetParam()).value();
  ThreadPool pool(2);
  Decoder decoder(&model, {.precision = Precision::kF32}, &pool);
  const std::vector<TokenId> ids = expected.Ids("seq0.ids");
  Floats logits;
  decoder.Logits(Sequence(decoder).Feed(&decoder, ids), static_cast<int64_t>(ids.size()), &logits);
  ExpectNear(logits, expected.Numbers("seq0.logits"), 2e-4, "logits");
  const std::vector<TokenId> greedy = expected.Ids("seq0.greedy");
  Sequence sequence(decoder);
  std::vector<TokenId> next = ids;
  for (size_t at = ids.size(); at < greedy.size(); ++at) {
    const float* hidden = sequence.Feed(&decoder, next);
    const auto last = static_cast<int64_t>(next.size()) - 1;
    decoder.Logits(hidden + last * model.config.width, 1, &logits);
    const auto best = std::max_element(logits.begin(), logits.begin() + model.config.vocab);
    ASSERT_EQ(best - logits.begin(), greedy[at]) << "token " << at;
    next = {greedy[at]};
  }
}

TEST_P(Families, LogProbsEntropiesAndGradientsAreThoseOfTransformers) {
  const Expected expected(GetParam());
  const Model model = LoadModel(kFolder / GetParam()).value();
  for (const bool recompute : {false, true}) {
    ThreadPool pool(2);
    Decoder decoder(&model, {.precision = Precision::kF32, .recompute_activations = recompute},
                    &pool);
    const Tree tree = ChainOf(expected.Ids("seq1.ids"));
    const std::vector<float> weights = expected.Numbers("seq1.weights");
    std::vector<float> logprobs, entropies;
    Gradients gradients = NoGradients(model);
    decoder.Accumulate(
        {&tree, 1},
        [&](std::span<TreeTerms> all) {
          PathTerms& path = all[0].paths[0];
          logprobs.assign(path.logprobs.begin() + 1, path.logprobs.end());
          entropies.assign(path.entropies.begin() + 1, path.entropies.end());
          for (size_t t = 1; t < weights.size(); ++t) path.dlogprobs[t] = -weights[t];
        },
        SharedTokens::kRepeat, &gradients);
    ExpectNear(logprobs, expected.Numbers("seq1.token_logprobs"), 2e-4, "log-probs");
    std::vector<float> their_entropies = expected.Numbers("seq1.entropy");
    their_entropies.pop_back();  // of the distribution after the last token
    ExpectNear(entropies, their_entropies, 2e-4, "entropies");
    auto of = [&](int parameter) -> const Floats& {
      return gradients[static_cast<size_t>(parameter)];
    };
    for (const StoredTensor& tensor : StoredTensorsOf(model)) {
      const std::string name = "seq1.grad." + tensor.name;
      ASSERT_TRUE(expected.Has(name)) << name;
      ExpectNear(GatherStored(tensor, model, of), expected.Numbers(name), 5e-4, name);
    }
  }
}

TEST_P(Families, ParametersAreCountedAndWrittenBackAsTheyWere) {
  const Model model = LoadModel(kFolder / GetParam()).value();
  const auto before = CheckpointTensors::Open(kFolder / GetParam());
  ASSERT_TRUE(before.ok());
  int64_t count = 0;
  for (const auto& [name, view] : before->tensors()) count += view.count();
  EXPECT_EQ(model.config.ParameterCount(), count);
  TemporaryDirectory directory;
  ASSERT_TRUE(SaveModel(model, SaveType::kBf16, directory.path()).ok());
  const auto after = CheckpointTensors::Open(directory.path());
  ASSERT_TRUE(after.ok());
  ASSERT_EQ(after->tensors().size(), before->tensors().size());
  for (const auto& [name, view] : before->tensors()) {
    const TensorView* written = after->Find(name);
    ASSERT_NE(written, nullptr) << name;
    EXPECT_EQ(written->shape, view.shape) << name;
    EXPECT_TRUE(std::equal(view.bytes.begin(), view.bytes.end(), written->bytes.begin(),
                           written->bytes.end()))
        << name;
  }
}

// Log-probabilities of a sequence after its first token, fed in chunks beside a stranger.
std::vector<float> ScoreInChunks(Decoder* decoder, const std::vector<TokenId>& tokens,
                                 size_t chunk_size, bool stranger) {
  const ModelConfig& c = decoder->config();
  KvPages pages(c, decoder->options().precision);
  KvSequence own(&pages), other(&pages);
  std::vector<float> logprobs;
  Floats hidden, logits;
  for (size_t at = 0; at + 1 < tokens.size(); at += chunk_size) {
    const size_t count = std::min(chunk_size, tokens.size() - 1 - at);
    std::vector<Chunk> chunks;
    const std::vector<TokenId> strange(3, static_cast<TokenId>(at % 60));
    const bool beside = stranger && other.length() < 200;
    if (beside) {
      other.Extend(3);
      chunks.push_back({other.table(), other.length() - 3, strange, {}});
    }
    own.Extend(static_cast<int64_t>(count));
    chunks.push_back(
        {own.table(), static_cast<int64_t>(at), std::span(tokens).subspan(at, count), {}});
    decoder->Forward(chunks, &pages, &hidden);
    decoder->Logits(hidden.data() + (beside ? 3 : 0) * c.width, static_cast<int64_t>(count),
                    &logits);
    for (size_t i = 0; i < count; ++i) {
      const std::span<const float> row(logits.data() + static_cast<int64_t>(i) * c.vocab,
                                       static_cast<size_t>(c.vocab));
      logprobs.push_back(
          DistributionOf(row, 1).LogProb(row[static_cast<size_t>(tokens[at + i + 1])]));
    }
  }
  return logprobs;
}

// A node of some of the tokens.
Node NodeOfTokens(NodeId parent, std::span<const TokenId> tokens) {
  Node node;
  node.parent = parent;
  node.tokens.assign(tokens.begin(), tokens.end());
  return node;
}

TEST_P(Families, NothingButTheSequenceItselfMattersToTheBit) {
  const Model model = LoadModel(kFolder / GetParam()).value();
  const std::vector<TokenId> tokens = Expected(GetParam()).Ids("seq1.ids");
  for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
    ThreadPool one(1), two(2);
    Decoder decoder(&model, {.precision = precision}, &one);
    Decoder threaded(&model, {.precision = precision}, &two);
    const std::vector<float> alone = ScoreInChunks(&decoder, tokens, tokens.size(), false);
    for (const size_t chunk : {1, 7, 50}) {
      EXPECT_EQ(ScoreInChunks(&threaded, tokens, chunk, true), alone) << chunk;
    }
    for (const Kernels* kernels : AvailableKernels()) {
      Decoder other(&model, {.precision = precision}, &two, *kernels);
      EXPECT_EQ(ScoreInChunks(&other, tokens, 40, false), alone) << kernels->name;
    }
    // As a path of a tree that forks twice, in scoring and in training.
    Tree tree;
    const std::span<const TokenId> all(tokens);
    tree.nodes = {NodeOfTokens(kNoNode, all.subspan(0, 37)), NodeOfTokens(0, all.subspan(3, 30)),
                  NodeOfTokens(0, all.subspan(37, 60)), NodeOfTokens(2, all.subspan(90, 9)),
                  NodeOfTokens(2, all.subspan(97))};
    tree.leaves = {{.node = 1}, {.node = 3}, {.node = 4}};
    std::vector<float> path;
    const TreeLogprobs scores = threaded.LogProbs({&tree, 1})[0];
    for (const size_t n : {0, 2, 4}) {
      path.insert(path.end(), scores[n].logprobs.begin(), scores[n].logprobs.end());
    }
    path.erase(path.begin());
    EXPECT_EQ(path, alone);
    Gradients gradients = NoGradients(model);
    threaded.Accumulate(
        {&tree, 1},
        [&](std::span<TreeTerms> terms) {
          const std::vector<float>& seen = terms[0].paths[2].logprobs;
          EXPECT_EQ(std::vector<float>(seen.begin() + 1, seen.end()), alone);
        },
        SharedTokens::kRepeat, &gradients);
  }
}

TEST_P(Families, GradientsAreTheSameOnAnyNumberOfThreadsAndAnyInstructionSet) {
  const Model model = LoadModel(kFolder / GetParam()).value();
  const Tree tree = ChainOf(Expected(GetParam()).Ids("seq1.ids"));
  auto gradients_with = [&](int threads, const Kernels& kernels, bool recompute) {
    ThreadPool pool(threads);
    Decoder decoder(&model, {.precision = Precision::kBf16, .recompute_activations = recompute},
                    &pool, kernels);
    Gradients gradients = NoGradients(model);
    decoder.Accumulate(
        {&tree, 1},
        [](std::span<TreeTerms> all) {
          for (float& d : all[0].paths[0].dlogprobs) d = -1;
        },
        SharedTokens::kRepeat, &gradients);
    return gradients;
  };
  const Gradients reference = gradients_with(1, *PlainKernels(), false);
  EXPECT_EQ(gradients_with(2, BestKernels(), true), reference);
  for (const Kernels* kernels : AvailableKernels()) {
    EXPECT_EQ(gradients_with(3, *kernels, false), reference) << kernels->name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Families,
                         testing::Values("mistral", "ministral", "smollm3", "phi3", "phi4-mini",
                                         "gemma", "gemma2", "gemma3", "qwen2-window", "llama-yarn",
                                         "qwen3-moe", "gpt-oss"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hone
