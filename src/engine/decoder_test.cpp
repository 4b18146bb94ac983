#include "engine/decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/rng.h"
#include "engine/distribution.h"
#include "engine/safetensors.h"

namespace hone {
namespace {

const std::filesystem::path kModels = HONE_SOURCE_DIR "/tests/golden/models";

// expected.safetensors of a model: what Hugging Face transformers computed.
class Expected {
 public:
  explicit Expected(const std::string& model)
      : file_(SafetensorsFile::Open(kModels / model / "expected.safetensors").value()) {}

  std::vector<float> Floats(const std::string& name) const {
    const TensorView* view = file_.Find(name);
    EXPECT_NE(view, nullptr) << name;
    std::vector<float> values(static_cast<size_t>(view->count()));
    CopyAsF32(*view, values);
    return values;
  }
  std::vector<TokenId> Ids(const std::string& name) const {
    const TensorView* view = file_.Find(name);
    std::vector<TokenId> ids;
    for (int64_t i = 0; i < view->count(); ++i) {
      int64_t id = 0;
      const size_t size = DTypeSize(view->dtype);
      std::memcpy(&id, view->bytes.data() + static_cast<size_t>(i) * size, size);
      ids.push_back(static_cast<TokenId>(id));
    }
    return ids;
  }
  bool Has(const std::string& name) const { return file_.Find(name) != nullptr; }

 private:
  SafetensorsFile file_;
};

void ExpectNear(std::span<const float> ours, std::span<const float> theirs, double tolerance,
                const std::string& what) {
  ASSERT_GE(ours.size(), theirs.size()) << what;
  double largest = 1e-12, worst = 0;
  for (const float x : theirs) largest = std::max<double>(largest, std::abs(x));
  for (size_t i = 0; i < theirs.size(); ++i) {
    worst = std::max<double>(worst, std::abs(static_cast<double>(ours[i]) - theirs[i]));
  }
  EXPECT_LE(worst / largest, tolerance) << what;
}

std::vector<std::vector<float>> ZeroGradients(const Model& model) {
  std::vector<std::vector<float>> gradients;
  for (const Parameter& parameter : model.parameters) {
    gradients.push_back(PaddedBuffer(static_cast<int64_t>(parameter.value.size())));
  }
  return gradients;
}

class DecoderParity : public testing::TestWithParam<const char*> {};

TEST_P(DecoderParity, LogitsLogProbsEntropiesAndGradientsEqualTransformers) {
  const Expected expected(GetParam());
  const Model model = LoadModel(kModels / GetParam()).value();
  ThreadPool pool(2);
  const Decoder decoder(&model, Precision::kF32, &pool);
  for (const std::string seq : {"seq0", "seq1", "seq2"}) {
    std::vector<Decoder::Sequence> sequences(1);
    sequences[0].tokens = expected.Ids(seq + ".ids");
    const auto length = static_cast<int64_t>(sequences[0].tokens.size());

    KvCache cache(model.config);
    const Decoder::Chunk chunk{&cache, sequences[0].tokens};
    const std::vector<float> hidden = decoder.Hidden({&chunk, 1});
    ExpectNear(decoder.Logits(hidden.data(), length), expected.Floats(seq + ".logits"), 2e-4,
               seq + ".logits");

    const std::vector<float> weights = expected.Floats(seq + ".weights");
    std::vector<float> logprobs, entropies;
    double loss = 0;
    auto gradients = ZeroGradients(model);
    decoder.Accumulate(
        sequences,
        [&](std::span<Decoder::Sequence> all) {
          for (size_t t = 1; t < all[0].terms.size(); ++t) {
            logprobs.push_back(all[0].terms[t].logprob);
            entropies.push_back(all[0].terms[t].entropy);
            loss -= weights[t] * all[0].terms[t].logprob;
            all[0].terms[t].dlogprob = -weights[t];
          }
        },
        &gradients);
    ExpectNear(logprobs, expected.Floats(seq + ".token_logprobs"), 2e-4, seq + ".token_logprobs");
    std::vector<float> their_entropies = expected.Floats(seq + ".entropy");
    their_entropies.pop_back();  // of the distribution after the last token
    ExpectNear(entropies, their_entropies, 2e-4, seq + ".entropy");
    EXPECT_NEAR(loss, expected.Floats(seq + ".loss")[0], 2e-4 * std::abs(loss));
    for (size_t i = 0; i < model.parameters.size(); ++i) {
      const std::string name = seq + ".grad." + model.parameters[i].name;
      ASSERT_TRUE(expected.Has(name)) << name;
      ExpectNear(gradients[i], expected.Floats(name), 2e-4, name);
    }
  }
}

TEST_P(DecoderParity, GreedyContinuationsAreIdentical) {
  const Expected expected(GetParam());
  const Model model = LoadModel(kModels / GetParam()).value();
  ThreadPool pool(2);
  const Decoder decoder(&model, Precision::kF32, &pool);
  for (const std::string seq : {"seq0", "seq1", "seq2"}) {
    const std::vector<TokenId> greedy = expected.Ids(seq + ".greedy");
    KvCache cache(model.config);
    std::vector<TokenId> next(greedy.begin(), greedy.end() - 24);
    for (size_t at = greedy.size() - 24; at < greedy.size(); ++at) {
      const Decoder::Chunk chunk{&cache, next};
      const std::vector<float> hidden = decoder.Hidden({&chunk, 1});
      const auto last = static_cast<int64_t>(next.size()) - 1;
      std::vector<float> logits = decoder.Logits(hidden.data() + last * model.config.width, 1);
      logits.resize(static_cast<size_t>(model.config.vocab));
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
  const Decoder decoder(&model, Precision::kBf16, &pool);
  std::vector<Decoder::Sequence> sequences(1);
  sequences[0].tokens = expected.Ids("seq2.ids");
  decoder.Accumulate(
      sequences, [](auto) {}, nullptr);
  const std::vector<float> theirs = expected.Floats("seq2.token_logprobs");
  for (size_t t = 1; t < sequences[0].terms.size(); ++t) {
    EXPECT_NEAR(sequences[0].terms[t].logprob, theirs[t - 1], 3e-2) << t;
  }
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
std::vector<float> Score(const Decoder& decoder, const std::vector<TokenId>& tokens,
                         size_t chunk_size, int strangers) {
  const ModelConfig& c = decoder.config();
  std::vector<KvCache> caches(static_cast<size_t>(strangers) + 1, KvCache(c));
  std::vector<std::vector<TokenId>> others;
  for (int i = 0; i < strangers; ++i)
    others.push_back(
        RandomTokens(Rng(900 + static_cast<uint64_t>(i)), 40 + static_cast<size_t>(i)));
  std::vector<float> logprobs;
  for (size_t at = 0; at + 1 < tokens.size(); at += chunk_size) {
    const size_t count = std::min(chunk_size, tokens.size() - 1 - at);
    std::vector<Decoder::Chunk> chunks;
    for (int i = 0; i < strangers; ++i) {
      const auto& other = others[static_cast<size_t>(i)];
      const size_t size = std::min<size_t>(
          static_cast<size_t>(i % 5) + 1,
          other.size() -
              std::min(other.size(), static_cast<size_t>(caches[static_cast<size_t>(i)].length())));
      const size_t from = static_cast<size_t>(caches[static_cast<size_t>(i)].length());
      if (size > 0)
        chunks.push_back({&caches[static_cast<size_t>(i)], std::span(other).subspan(from, size)});
    }
    size_t first_row = 0;
    for (const auto& chunk : chunks) first_row += chunk.tokens.size();
    chunks.push_back({&caches.back(), std::span(tokens).subspan(at, count)});
    const std::vector<float> hidden = decoder.Hidden(chunks);
    const std::vector<float> logits = decoder.Logits(
        hidden.data() + static_cast<int64_t>(first_row) * c.width, static_cast<int64_t>(count));
    for (size_t i = 0; i < count; ++i) {
      const std::span<const float> row(logits.data() + static_cast<int64_t>(i) * c.vocab,
                                       static_cast<size_t>(c.vocab));
      logprobs.push_back(
          DistributionOf(row, 1).LogProb(row[static_cast<size_t>(tokens[at + i + 1])]));
    }
  }
  return logprobs;
}

TEST(DecoderBits, NothingButTheSequenceItselfMatters) {
  for (const char* name : {"qwen2", "qwen3", "llama3"}) {
    const Model model = LoadModel(kModels / name).value();
    const std::vector<TokenId> tokens = RandomTokens(Rng(5), 90);
    for (const Precision precision : {Precision::kF32, Precision::kBf16}) {
      ThreadPool one(1), two(2);
      const Decoder decoder(&model, precision, &one);
      const std::vector<float> alone = Score(decoder, tokens, tokens.size(), 0);
      for (const size_t chunk : {1, 7, 64})
        EXPECT_EQ(Score(decoder, tokens, chunk, 0), alone) << name << chunk;
      for (const int strangers : {7, 63})
        EXPECT_EQ(Score(decoder, tokens, 16, strangers), alone) << strangers;
      const Decoder threaded(&model, precision, &two);
      EXPECT_EQ(Score(threaded, tokens, 7, 7), alone);
      for (const PanelKernels* kernels : {PlainKernels(), Avx2Kernels(), Avx512Kernels()}) {
        if (kernels == nullptr) continue;
        const Decoder other(&model, precision, &two, *kernels);
        EXPECT_EQ(Score(other, tokens, 30, 0), alone) << kernels->name;
      }
      std::vector<Decoder::Sequence> sequences(2);
      sequences[0].tokens = RandomTokens(Rng(6), 20);
      sequences[1].tokens = tokens;
      threaded.Accumulate(
          sequences, [](auto) {}, nullptr);
      for (size_t t = 1; t < tokens.size(); ++t) {
        EXPECT_EQ(sequences[1].terms[t].logprob, alone[t - 1])
            << "what training sees is what was sampled";
      }
    }
  }
}

TEST(DecoderBits, GradientsAreTheSameOnAnyNumberOfThreadsAndAnyInstructionSet) {
  const Model model = LoadModel(kModels / "qwen3").value();
  auto gradients_with = [&](int threads, const PanelKernels& kernels) {
    ThreadPool pool(threads);
    const Decoder decoder(&model, Precision::kBf16, &pool, kernels);
    std::vector<Decoder::Sequence> sequences(3);
    for (size_t i = 0; i < 3; ++i) sequences[i].tokens = RandomTokens(Rng(20 + i), 10 + 17 * i);
    auto gradients = ZeroGradients(model);
    decoder.Accumulate(
        sequences,
        [](std::span<Decoder::Sequence> all) {
          for (auto& sequence : all) {
            for (auto& term : sequence.terms) term.dlogprob = -1, term.dentropy = 0.1f;
          }
        },
        &gradients);
    return gradients;
  };
  const auto reference = gradients_with(1, *PlainKernels());
  for (const PanelKernels* kernels : {PlainKernels(), Avx2Kernels(), Avx512Kernels()}) {
    if (kernels == nullptr) continue;
    EXPECT_EQ(gradients_with(3, *kernels), reference) << kernels->name;
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
  ThreadPool pool(2);
  auto sequence = [&] {
    Decoder::Sequence s;
    for (int i = 0; i < 9; ++i) s.tokens.push_back(static_cast<TokenId>(i * 7 % 37));
    s.temperature = 0.8f;
    s.supports.assign(s.tokens.size(), {});
    for (size_t t = 0; t < s.tokens.size(); t += 2) {
      for (TokenId v = 0; v < 37; ++v) {
        if (v % 3 == 0 || v == s.tokens[t]) s.supports[t].kept.push_back(v);
      }
    }
    return s;
  };
  auto loss_of = [&](const Model& at, std::vector<std::vector<float>>* gradients) {
    const Decoder decoder(&at, Precision::kF32, &pool);
    std::vector<Decoder::Sequence> sequences = {sequence()};
    double loss = 0;
    decoder.Accumulate(
        sequences,
        [&](std::span<Decoder::Sequence> all) {
          for (size_t t = 1; t < all[0].terms.size(); ++t) {
            loss += 0.7 * all[0].terms[t].logprob + 0.3 * all[0].terms[t].entropy;
            all[0].terms[t].dlogprob = 0.7f;
            all[0].terms[t].dentropy = 0.3f;
          }
        },
        gradients);
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
