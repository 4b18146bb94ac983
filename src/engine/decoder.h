#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/attention.h"
#include "engine/layers.h"
#include "engine/linear.h"
#include "engine/model.h"
#include "record/sampling.h"

namespace hone {

// What a sequence has computed so far: keys and values of every layer.
class KvCache {
 public:
  explicit KvCache(const ModelConfig& config);

  int64_t length() const { return heads_.empty() ? 0 : heads_[0].length(); }
  KvHead& Head(int64_t layer, int64_t kv_head) { return heads_[layer * kv_heads_ + kv_head]; }

 private:
  int64_t kv_heads_;
  std::vector<KvHead> heads_;  // [layers][kv_heads]
};

// The forward and backward computation of a model. The weights are packed when it is made; after a
// change of the weights a new one is made.
//
// What a token's row becomes depends on its sequence's earlier tokens and nothing else: whatever
// the batch, the chunks, the cache or the number of threads, the bits are the same.
class Decoder {
 public:
  // `model` and `pool` must outlive it.
  Decoder(const Model* model, Precision precision, ThreadPool* pool,
          const PanelKernels& kernels = BestKernels());
  ~Decoder();

  // Some more tokens of a sequence. Its cache grows by them.
  struct Chunk {
    KvCache* cache;
    std::span<const TokenId> tokens;
  };
  // The final hidden states [rows][width] of all chunks' tokens, one chunk after the other, as a
  // PaddedBuffer; Logits turns them into scores.
  std::vector<float> Hidden(std::span<const Chunk> chunks) const;
  // [rows][vocab] for the hidden states of some rows.
  std::vector<float> Logits(const float* hidden, int64_t rows) const;

  // What a training step wants of one token of a sequence (the first has none).
  struct TokenTerm {
    float logprob = 0, entropy = 0;    // filled in before the loss is asked
    float dlogprob = 0, dentropy = 0;  // to be filled in by the loss
  };
  struct Sequence {
    std::vector<TokenId> tokens;
    float temperature = 1;
    std::vector<Support> supports;  // per token, or empty: all tokens
    std::vector<TokenTerm> terms;   // per token; terms[t] is about tokens[t]
  };
  // Forward over whole sequences, then `loss` fills in the derivatives, then backward: the
  // gradients of the model's parameters are added to `gradients` (as many, as large). Sums over
  // tokens run in their order, so the same call gives the same bits on any number of threads.
  void Accumulate(std::span<Sequence> sequences,
                  const std::function<void(std::span<Sequence>)>& loss,
                  std::vector<std::vector<float>>* gradients) const;

  const ModelConfig& config() const { return model_->config; }
  int64_t max_positions() const { return rope_.positions(); }

 private:
  struct PackedLayer;
  struct LayerState;
  struct Batch;

  std::vector<float> Run(std::span<const Chunk> chunks, std::vector<LayerState>* keep,
                         std::vector<float>* final_scales) const;
  void ForwardLayer(int64_t layer, const Batch& batch, std::vector<float>* x,
                    LayerState* state) const;
  void BackwardLayer(int64_t layer, const Batch& batch, const LayerState& state,
                     std::vector<float>* dx, std::vector<std::vector<float>>* gradients) const;
  void OutputBackward(std::span<Sequence> sequences, const std::vector<float>& hidden,
                      std::vector<float>* dhidden, std::vector<float>* dhead) const;
  void ForRows(int64_t rows, const std::function<void(int64_t)>& body) const;
  void Round(float* values, int64_t count) const;
  const float* Weights(int index) const { return model_->parameters[index].value.data(); }

  const Model* model_;
  Precision precision_;
  ThreadPool* pool_;
  const PanelKernels& kernels_;
  RopeTable rope_;
  std::vector<PackedLayer> layers_;
  std::unique_ptr<PackedLinear> head_;
  std::vector<float> embedding_;  // as it enters the residual stream
};

}  // namespace hone
