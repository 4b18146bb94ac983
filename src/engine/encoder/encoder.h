#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/encoder/encoder_weights.h"
#include "engine/linear.h"
#include "record/sampling.h"

namespace hone {

// An encoder of texts: tokens in, a vector per token or per text out, in float32 by the kernels of
// the instruction set that this machine has. What a text gets depends on its own tokens alone: the
// same bits alone and beside others, on one thread and on many. Inference only.
//
// Immutable and thread-safe; it uses its own threads inside.
class Encoder {
 public:
  // A Hugging Face folder. `threads` 0: as many as the machine has.
  static Result<std::unique_ptr<Encoder>> Open(const std::filesystem::path& folder, int threads);
  Encoder(EncoderWeights weights, int threads, const Kernels& kernels = BestKernels());

  const EncoderShape& shape() const { return weights_.shape; }

  using Tokens = std::vector<TokenId>;
  // Whether a text is not empty, not longer than there are positions, and of tokens of the
  // vocabulary. The calls below want such texts (CHECK).
  Result<void> CheckText(std::span<const TokenId> tokens) const;

  // [tokens][width] of each text: what the last layer says of every token.
  std::vector<std::vector<float>> TokenVectors(std::span<const Tokens> texts) const;
  // One vector of `width` per text.
  std::vector<std::vector<float>> TextVectors(std::span<const Tokens> texts,
                                              const Pooling& pooling) const;

 private:
  struct Layer {
    PackedLinear attention_inputs, attended, inner, outer;
  };
  struct Batch;  // some texts on their way through the layers

  // Hands over [tokens][width] of each text, some texts at a time.
  using TakeRows = std::function<void(std::span<const float> rows)>;
  void ForEachText(std::span<const Tokens> texts, const TakeRows& take) const;
  void Run(Batch* batch) const;
  void Embed(Batch* batch) const;
  void Attend(const Batch& batch, float* out) const;
  // y = Linear x, the biases added.
  void Apply(const PackedLinear& linear, std::span<const std::vector<float>* const> biases,
             const float* x, Batch* batch, float* y) const;
  // x = LayerNorm(x + y).
  void AddAndNorm(const float* y, const EncoderNorm& norm, Batch* batch) const;

  EncoderWeights weights_;
  const Kernels& kernels_;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<Layer> layers_;
};

}  // namespace hone
