#include "engine/encoder/encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <thread>

#include "base/file.h"
#include "base/rng.h"
#include "engine/safetensors.h"
#include "support/expected_model.h"
#include "support/golden_models.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

// Random weights in the shape of BERT (tests/golden/README.md).
const fs::path kSmall = GoldenModels().parent_path() / "encoder" / "small";

std::vector<Encoder::Tokens> RandomTexts(std::initializer_list<int> lengths, int64_t vocab) {
  Rng rng(27);
  std::vector<Encoder::Tokens> texts;
  for (const int length : lengths) {
    Encoder::Tokens& text = texts.emplace_back();
    for (int t = 0; t < length; ++t) {
      text.push_back(static_cast<TokenId>(rng.NextU64() % static_cast<uint64_t>(vocab)));
    }
  }
  return texts;
}

// The published formula in double precision, number by number.
class Formula {
 public:
  using Rows = std::vector<std::vector<double>>;
  explicit Formula(const EncoderWeights& weights) : w_(weights), c_(weights.shape) {}

  Rows Run(const Encoder::Tokens& text) const {
    Rows x;
    for (size_t t = 0; t < text.size(); ++t) {
      std::vector<double>& row = x.emplace_back();
      for (int64_t i = 0; i < c_.width; ++i) {
        row.push_back(static_cast<double>(w_.words[text[t] * c_.width + i]) +
                      w_.positions[static_cast<int64_t>(t) * c_.width + i] + w_.token_types[i]);
      }
    }
    Norm(w_.norm, &x);
    for (const EncoderLayerWeights& layer : w_.layers) {
      Add(Linear(layer.attended, Attention(layer, x)), &x);
      Norm(layer.attention_norm, &x);
      Rows inner = Linear(layer.inner, x);
      for (auto& row : inner) {
        for (double& v : row) v *= 0.5 * (1 + std::erf(v / std::sqrt(2.0)));
      }
      Add(Linear(layer.outer, inner), &x);
      Norm(layer.output_norm, &x);
    }
    return x;
  }

 private:
  static Rows Linear(const EncoderLinear& linear, const Rows& x) {
    Rows y;
    for (const auto& row : x) {
      std::vector<double>& out = y.emplace_back();
      for (size_t o = 0; o < linear.bias.size(); ++o) {
        double sum = linear.bias[o];
        for (size_t i = 0; i < row.size(); ++i) sum += linear.weight[o * row.size() + i] * row[i];
        out.push_back(sum);
      }
    }
    return y;
  }
  static void Add(const Rows& y, Rows* x) {
    for (size_t r = 0; r < y.size(); ++r) {
      for (size_t i = 0; i < y[r].size(); ++i) (*x)[r][i] += y[r][i];
    }
  }
  void Norm(const EncoderNorm& norm, Rows* x) const {
    for (auto& row : *x) {
      double mean = 0, variance = 0;
      for (const double v : row) mean += v / static_cast<double>(row.size());
      for (const double v : row) {
        variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      }
      for (size_t i = 0; i < row.size(); ++i) {
        row[i] =
            (row[i] - mean) / std::sqrt(variance + c_.norm_eps) * norm.weight[i] + norm.bias[i];
      }
    }
  }
  Rows Attention(const EncoderLayerWeights& layer, const Rows& x) const {
    const Rows q = Linear(layer.query, x), k = Linear(layer.key, x), v = Linear(layer.value, x);
    const auto dim = static_cast<size_t>(c_.head_dim());
    Rows out(x.size(), std::vector<double>(static_cast<size_t>(c_.width)));
    for (size_t at = 0; at < static_cast<size_t>(c_.width); at += dim) {
      for (size_t r = 0; r < x.size(); ++r) {
        std::vector<double> weights;
        double sum = 0;
        for (size_t s = 0; s < x.size(); ++s) {
          double score = 0;
          for (size_t d = at; d < at + dim; ++d) score += q[r][d] * k[s][d];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
          sum += weights.back();
        }
        for (size_t s = 0; s < x.size(); ++s) {
          for (size_t d = at; d < at + dim; ++d) out[r][d] += weights[s] / sum * v[s][d];
        }
      }
    }
    return out;
  }

  const EncoderWeights& w_;
  const EncoderShape& c_;
};

TEST(Encoder, TheVectorsOfTokensAreThoseOfTheFormula) {
  EncoderWeights weights = LoadEncoderWeights(kSmall).value();
  const Formula formula(weights);
  const Encoder encoder(weights, 2);
  const auto texts = RandomTexts({1, 2, 17, 32, 33, 80}, encoder.shape().vocab);
  const auto vectors = encoder.TokenVectors(texts);
  ASSERT_EQ(vectors.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const Formula::Rows expected = formula.Run(texts[i]);
    ASSERT_EQ(vectors[i].size(), expected.size() * expected[0].size());
    double worst = 0;
    for (size_t at = 0; at < vectors[i].size(); ++at) {
      const double exact = expected[at / expected[0].size()][at % expected[0].size()];
      worst = std::max(worst, std::abs(vectors[i][at] - exact));
    }
    EXPECT_LT(worst, 1e-5) << texts[i].size() << " tokens";
  }
}

bool SameBits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size() ||
        std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

TEST(Encoder, ATextHasTheSameBitsAloneAndBesideOthersOnEveryThreadsAndInstructionSet) {
  const EncoderWeights weights = LoadEncoderWeights(kSmall).value();
  const Encoder one(weights, 1), four(weights, 4);
  // More than go through the layers at a time.
  const auto six = RandomTexts({80, 3, 80, 41, 1, 64}, one.shape().vocab);
  std::vector<Encoder::Tokens> texts;
  for (int i = 0; i < 10; ++i) texts.insert(texts.end(), six.begin(), six.end());
  for (const Pooling& pooling :
       {Pooling{}, Pooling{.kind = Pooling::Kind::kFirst, .normalize = false}}) {
    const auto together = one.TextVectors(texts, pooling);
    EXPECT_TRUE(SameBits(together, four.TextVectors(texts, pooling)));
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_TRUE(SameBits({together[i]}, four.TextVectors({&texts[i], 1}, pooling))) << i;
    }
    for (const Kernels* kernels : AvailableKernels()) {
      EXPECT_TRUE(SameBits(together, Encoder(weights, 2, *kernels).TextVectors(texts, pooling)))
          << kernels->name;
    }
  }
}

TEST(Encoder, SeveralThreadsMayAskAtOnce) {
  const auto encoder = Encoder::Open(kSmall, 2).value();
  const auto texts = RandomTexts({40, 7, 80, 1}, encoder->shape().vocab);
  const auto expected = encoder->TextVectors(texts, {});
  std::vector<std::vector<std::vector<float>>> found(3);
  {
    std::vector<std::jthread> threads;
    for (auto& vectors : found) {
      threads.emplace_back([&] { vectors = encoder->TextVectors(texts, {}); });
    }
  }
  for (const auto& vectors : found) EXPECT_TRUE(SameBits(vectors, expected));
}

TEST(Encoder, AVectorIsTheMeanOrTheFirstAndOfLengthOneWhereThatIsAskedFor) {
  const auto encoder = Encoder::Open(kSmall, 1).value();
  const auto texts = RandomTexts({5}, encoder->shape().vocab);
  const auto width = static_cast<size_t>(encoder->shape().width);
  const std::vector<float> tokens = encoder->TokenVectors(texts)[0];
  const auto first =
      encoder->TextVectors(texts, {.kind = Pooling::Kind::kFirst, .normalize = false})[0];
  EXPECT_EQ(first, std::vector<float>(tokens.begin(), tokens.begin() + width));
  const auto mean = encoder->TextVectors(texts, {.normalize = false})[0];
  const auto unit = encoder->TextVectors(texts, {})[0];
  double squares = 0, length = 0;
  for (const float x : mean) length += static_cast<double>(x) * x;
  for (size_t i = 0; i < width; ++i) {
    double sum = 0;
    for (size_t t = 0; t < 5; ++t) sum += tokens[t * width + i];
    EXPECT_NEAR(mean[i], sum / 5, 1e-6);
    EXPECT_NEAR(unit[i], mean[i] / std::sqrt(length), 1e-6);
    squares += static_cast<double>(unit[i]) * unit[i];
  }
  EXPECT_NEAR(squares, 1, 1e-6);
}

TEST(Encoder, TextsThatItCannotReadAreNamed) {
  const auto encoder = Encoder::Open(kSmall, 1).value();
  EXPECT_FALSE(encoder->CheckText({}).ok());
  const Encoder::Tokens longest(80, 1), longer(81, 1), foreign = {1, 99999};
  EXPECT_TRUE(encoder->CheckText(longest).ok());
  EXPECT_NE(encoder->CheckText(longer).error().message().find("80 positions"), std::string::npos);
  EXPECT_NE(encoder->CheckText(foreign).error().message().find("99999"), std::string::npos);
}

// make_encoder.py of tests/golden/models, run where PyTorch and transformers are.
TEST(Encoder, TheVectorsAreThoseOfTransformers) {
  std::error_code ignored;
  if (!fs::exists(GoldenModels() / "bert" / "expected.safetensors", ignored)) {
    GTEST_SKIP() << "not run: tests/golden/models/bert is not here; make_encoder.py writes it";
  }
  const Expected expected("bert");
  const auto encoder = Encoder::Open(GoldenModels() / "bert", 2).value();
  int sequences = 0;
  for (; expected.Has("seq" + std::to_string(sequences) + ".ids"); ++sequences) {
    const std::string name = "seq" + std::to_string(sequences);
    const std::vector<Encoder::Tokens> text = {expected.Ids(name + ".ids")};
    ExpectNear(encoder->TokenVectors(text)[0], expected.Numbers(name + ".hidden"), 1e-5, name);
    ExpectNear(encoder->TextVectors(text, {})[0], expected.Numbers(name + ".embedding"), 1e-5,
               name);
  }
  EXPECT_GE(sequences, 4);
}

// The small encoder with some of its tensors changed.
class StoredEncoder : public testing::Test {
 protected:
  StoredEncoder() : file_(SafetensorsFile::Open(kSmall / "model.safetensors").value()) {
    tensors_ = file_.tensors();
    fs::copy_file(kSmall / "config.json", directory_.path() / "config.json");
  }
  std::string ErrorOfLoading() {
    EXPECT_TRUE(WriteSafetensors(directory_.path() / "model.safetensors", tensors_, {}).ok());
    const auto loaded = LoadEncoderWeights(directory_.path());
    return loaded.ok() ? "" : loaded.error().message();
  }

  SafetensorsFile file_;
  std::map<std::string, TensorView> tensors_;
  TemporaryDirectory directory_;
};

TEST_F(StoredEncoder, NamesMayBeginWithBertAndTypesMayBeFloat32) {
  const EncoderWeights plain = LoadEncoderWeights(kSmall).value();
  std::map<std::string, TensorView> renamed;
  std::map<std::string, std::vector<float>> floats;
  for (const auto& [name, view] : tensors_) {
    std::vector<float>& values = floats[name];
    values.resize(static_cast<size_t>(view.count()));
    CopyAsF32(view, values);
    renamed["bert." + name] = {DType::kF32, view.shape, std::as_bytes(std::span(values))};
  }
  renamed["bert.pooler.dense.bias"] = renamed["bert.embeddings.LayerNorm.bias"];
  renamed["cls.predictions.bias"] = renamed["bert.embeddings.LayerNorm.bias"];
  tensors_ = renamed;
  ASSERT_EQ(ErrorOfLoading(), "");
  const EncoderWeights again = LoadEncoderWeights(directory_.path()).value();
  EXPECT_EQ(again.words, plain.words);
  EXPECT_EQ(again.layers[2].outer.bias, plain.layers[2].outer.bias);
}

TEST_F(StoredEncoder, ATensorThatIsWrongIsNamed) {
  const auto original = tensors_;
  const std::string name = "encoder.layer.1.output.dense.bias";
  tensors_.erase(name);
  EXPECT_NE(ErrorOfLoading().find("tensor " + name + " is missing"), std::string::npos);
  tensors_ = original;
  tensors_[name] = original.at("encoder.layer.1.intermediate.dense.bias");
  EXPECT_NE(ErrorOfLoading().find("tensor " + name + ": its shape is [72]"), std::string::npos);
  tensors_ = original;
  tensors_["encoder.layer.9.output.dense.bias"] = original.at(name);
  EXPECT_NE(ErrorOfLoading().find("encoder.layer.9.output.dense.bias belongs to no part"),
            std::string::npos);
  tensors_ = original;
  std::vector<float> infinite(32, INFINITY);
  tensors_[name] = {DType::kF32, {32}, std::as_bytes(std::span(infinite))};
  EXPECT_NE(ErrorOfLoading().find("tensor " + name + ": holds a number that is not finite"),
            std::string::npos);
  std::vector<int64_t> whole(32, 1);
  tensors_[name] = {DType::kI64, {32}, std::as_bytes(std::span(whole))};
  EXPECT_NE(ErrorOfLoading().find("its type I64"), std::string::npos);
}

}  // namespace
}  // namespace hone
