#include "engine/encoder/encoder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/encoder/encoder_attention.h"

namespace hone {
namespace {

// Tokens that go through the layers together: enough for the products, and bounded memory. A longer
// text goes alone.
constexpr size_t kBatchTokens = 2048;

// Rows of element-wise work per piece.
constexpr size_t kRowGrain = 16;

int EncoderThreads(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void Normalize(const Kernels& kernels, std::vector<float>* vector) {
  const auto size = static_cast<int64_t>(vector->size());
  const float length = std::sqrt(kernels.dot(vector->data(), vector->data(), size));
  const float inverse = 1.0f / std::max(length, 1e-12f);
  for (float& value : *vector) value *= inverse;
}

// The vector of a text whose tokens' vectors are rows of `width`.
std::vector<float> Pooled(std::span<const float> rows, int64_t width, const Pooling& pooling,
                          const Kernels& kernels) {
  std::vector<float> vector(rows.begin(), rows.begin() + width);
  if (pooling.kind == Pooling::Kind::kMean) {
    const auto count = static_cast<int64_t>(rows.size()) / width;
    for (int64_t t = 1; t < count; ++t) kernels.add(rows.data() + t * width, width, vector.data());
    for (float& value : vector) value /= static_cast<float>(count);
  }
  if (pooling.normalize) Normalize(kernels, &vector);
  return vector;
}

}  // namespace

// Texts behind each other, without padding.
struct Encoder::Batch {
  std::span<const Tokens> texts;
  std::vector<int64_t> begins;  // the first row of each text, and one more: all rows
  Floats x, inputs, attended, inner, outer;

  explicit Batch(std::span<const Tokens> all) : texts(all), begins{0} {
    for (const Tokens& text : all) {
      begins.push_back(begins.back() + static_cast<int64_t>(text.size()));
    }
  }
  int64_t rows() const { return begins.back(); }
};

Result<std::unique_ptr<Encoder>> Encoder::Open(const std::filesystem::path& folder, int threads) {
  HONE_ASSIGN_OR_RETURN(EncoderWeights weights, LoadEncoderWeights(folder));
  return std::make_unique<Encoder>(std::move(weights), threads);
}

Encoder::Encoder(EncoderWeights weights, int threads, const Kernels& kernels)
    : weights_(std::move(weights)),
      kernels_(kernels),
      pool_(std::make_unique<ThreadPool>(EncoderThreads(threads))) {
  const FloatMode mode;
  const int64_t width = shape().width, ffn = shape().ffn;
  for (const EncoderLayerWeights& from : weights_.layers) {
    Layer& layer = layers_.emplace_back();
    const auto pack = [&](PackedLinear* linear, std::vector<PackedLinear::Weight> parts,
                          int64_t inputs) {
      linear->Pack(parts, inputs, Precision::kF32, kernels_, pool_.get());
    };
    pack(&layer.attention_inputs,
         {{from.query.weight.data(), width},
          {from.key.weight.data(), width},
          {from.value.weight.data(), width}},
         width);
    pack(&layer.attended, {{from.attended.weight.data(), width}}, width);
    pack(&layer.inner, {{from.inner.weight.data(), ffn}}, width);
    pack(&layer.outer, {{from.outer.weight.data(), width}}, ffn);
  }
}

Result<void> Encoder::CheckText(std::span<const TokenId> tokens) const {
  if (tokens.empty()) return Error(ErrorCode::kInvalidArgument, "a text without tokens");
  if (static_cast<int64_t>(tokens.size()) > shape().max_positions) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} tokens are more than the model's {} positions", tokens.size(),
                             shape().max_positions));
  }
  for (const TokenId token : tokens) {
    if (token >= 0 && token < shape().vocab) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the token {} is not one of the model's {}", token, shape().vocab));
  }
  return {};
}

void Encoder::ForEachText(std::span<const Tokens> texts, const TakeRows& take) const {
  for (size_t begin = 0, end = 0; begin < texts.size(); begin = end) {
    size_t tokens = 0;
    while (end < texts.size() && (end == begin || tokens + texts[end].size() <= kBatchTokens)) {
      CHECK(CheckText(texts[end]).ok(), "a text that the encoder cannot read");
      tokens += texts[end++].size();
    }
    Batch batch(texts.subspan(begin, end - begin));
    Run(&batch);
    for (size_t i = 0; i + 1 < batch.begins.size(); ++i) {
      take({batch.x.data() + batch.begins[i] * shape().width,
            batch.x.data() + batch.begins[i + 1] * shape().width});
    }
  }
}

std::vector<std::vector<float>> Encoder::TokenVectors(std::span<const Tokens> texts) const {
  std::vector<std::vector<float>> vectors;
  ForEachText(texts,
              [&](std::span<const float> rows) { vectors.emplace_back(rows.begin(), rows.end()); });
  return vectors;
}

std::vector<std::vector<float>> Encoder::TextVectors(std::span<const Tokens> texts,
                                                     const Pooling& pooling) const {
  const FloatMode mode;
  std::vector<std::vector<float>> vectors;
  ForEachText(texts, [&](std::span<const float> rows) {
    vectors.push_back(Pooled(rows, shape().width, pooling, kernels_));
  });
  return vectors;
}

void Encoder::Run(Batch* batch) const {
  const int64_t rows = batch->rows(), width = shape().width, ffn = shape().ffn;
  Embed(batch);
  float* inputs = Room(&batch->inputs, rows * 3 * width);
  float* attended = Room(&batch->attended, rows * width);
  float* inner = Room(&batch->inner, rows * ffn);
  float* outer = Room(&batch->outer, rows * width);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const EncoderLayerWeights& w = weights_.layers[i];
    const Layer& layer = layers_[i];
    Apply(layer.attention_inputs, std::array{&w.query.bias, &w.key.bias, &w.value.bias},
          batch->x.data(), batch, inputs);
    Attend(*batch, attended);
    Apply(layer.attended, std::array{&w.attended.bias}, attended, batch, outer);
    AddAndNorm(outer, w.attention_norm, batch);
    Apply(layer.inner, std::array{&w.inner.bias}, batch->x.data(), batch, inner);
    pool_->ParallelFor(static_cast<size_t>(rows), kRowGrain, [&](size_t begin, size_t end) {
      const FloatMode mode;
      float* some = inner + static_cast<int64_t>(begin) * ffn;
      kernels_.gelu(some, static_cast<int64_t>(end - begin) * ffn, some);
    });
    Apply(layer.outer, std::array{&w.outer.bias}, inner, batch, outer);
    AddAndNorm(outer, w.output_norm, batch);
  }
}

void Encoder::Embed(Batch* batch) const {
  const int64_t width = shape().width;
  float* x = Room(&batch->x, batch->rows() * width);
  float* places = Room(&batch->outer, batch->rows() * width);
  for (size_t i = 0; i < batch->texts.size(); ++i) {
    const int64_t first = batch->begins[i];
    for (size_t t = 0; t < batch->texts[i].size(); ++t) {
      const int64_t at = (first + static_cast<int64_t>(t)) * width;
      std::copy_n(weights_.words.data() + batch->texts[i][t] * width, width, x + at);
      std::copy_n(weights_.positions.data() + static_cast<int64_t>(t) * width, width, places + at);
      // All tokens are of the first type: of a single text.
      kernels_.add(weights_.token_types.data(), width, x + at);
    }
  }
  AddAndNorm(places, weights_.norm, batch);
}

void Encoder::Attend(const Batch& batch, float* out) const {
  const int64_t width = shape().width, dim = shape().head_dim();
  const auto heads = static_cast<size_t>(shape().heads);
  pool_->ParallelFor(batch.texts.size() * heads, 1, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t i = begin; i < end; ++i) {
      const int64_t first = batch.begins[i / heads], row = 3 * width;
      const int64_t offset = static_cast<int64_t>(i % heads) * dim;
      const float* inputs = batch.inputs.data() + first * row + offset;
      AttendToAll({.queries = inputs,
                   .keys = inputs + width,
                   .values = inputs + 2 * width,
                   .row = row,
                   .tokens = batch.begins[i / heads + 1] - first,
                   .head_dim = dim,
                   .out = out + first * width + offset,
                   .out_row = width},
                  kernels_);
    }
  });
}

void Encoder::Apply(const PackedLinear& linear, std::span<const std::vector<float>* const> biases,
                    const float* x, Batch* batch, float* y) const {
  linear.Forward(x, batch->rows(), y, kernels_, pool_.get());
  pool_->ParallelFor(static_cast<size_t>(batch->rows()), kRowGrain, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t r = begin; r < end; ++r) {
      float* row = y + static_cast<int64_t>(r) * linear.outputs();
      for (const std::vector<float>* bias : biases) {
        kernels_.add(bias->data(), static_cast<int64_t>(bias->size()), row);
        row += bias->size();
      }
    }
  });
}

void Encoder::AddAndNorm(const float* y, const EncoderNorm& norm, Batch* batch) const {
  const int64_t width = shape().width;
  const auto eps = static_cast<float>(shape().norm_eps);
  const std::vector<float> ones(static_cast<size_t>(width), 1.0f);
  pool_->ParallelFor(static_cast<size_t>(batch->rows()), kRowGrain, [&](size_t begin, size_t end) {
    const FloatMode mode;
    for (size_t r = begin; r < end; ++r) {
      float* row = batch->x.data() + static_cast<int64_t>(r) * width;
      kernels_.add(y + static_cast<int64_t>(r) * width, width, row);
      // What is left without the mean has the variance as the mean of its squares.
      const float mean = kernels_.dot(row, ones.data(), width) / static_cast<float>(width);
      kernels_.add_scaled(ones.data(), -mean, width, row);
      kernels_.rms_norm(row, norm.weight.data(), width, eps, row);
      kernels_.add(norm.bias.data(), width, row);
    }
  });
}

}  // namespace hone
