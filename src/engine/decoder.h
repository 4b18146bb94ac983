#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/attention.h"
#include "engine/kv_pages.h"
#include "engine/logprobs.h"
#include "engine/model.h"
#include "engine/projection.h"
#include "engine/rope.h"
#include "engine/tree_batch.h"

namespace hone {

struct KeptOutput;

struct DecoderOptions {
  Precision precision = Precision::kBf16;
  // Training keeps only the input of each layer and computes the rest again: a third more work, a
  // fraction of the memory, the same bits.
  bool recompute_activations = false;
  // What the run's forbidden set holds; nodes that name it (Sampling::forbidden_set) never get one
  // of these.
  std::vector<TokenId> forbidden;
};

// The forward and backward computation of a model. Weights are packed when it is made and by
// Repack.
//
// What a token's row becomes depends on the tokens before it on its path and nothing else: whatever
// the batch, the chunks, the cache, the tree or the number of threads, the bits are the same.
//
// Not synchronised; buffers are kept between calls.
class Decoder {
 public:
  // `model` and `pool` must outlive it.
  Decoder(const Model* model, DecoderOptions options, ThreadPool* pool,
          const Kernels& kernels = BestKernels());
  ~Decoder();

  // To be called after a change of the weights.
  void Repack();
  // While false, LoRA adapters are left out: the base model answers.
  void UseAdapters(bool use) { use_adapters_ = use; }

  using Chunk = hone::Chunk;
  // The final hidden states [rows][width] of all chunks' tokens, one chunk after the other.
  void Forward(std::span<const Chunk> chunks, KvPages* pages, Floats* hidden);
  // [rows][vocab] for some hidden states.
  void Logits(const float* hidden, int64_t rows, Floats* logits);

  // Forbidden tokens of a row of logits, for turns that name the set: their probability becomes
  // exactly 0.
  void MaskForbidden(const Sampling& sampling, float* logits) const;

  // Each shared beginning is computed once.
  std::vector<TreeLogprobs> LogProbs(std::span<const Tree> trees);
  // Forward over whole trees, then `loss` fills in the derivatives, then backward: the gradients of
  // the model's parameters are added to `gradients`. Sums over tokens run in their order, so the
  // same call gives the same bits on any number of threads.
  void Accumulate(std::span<const Tree> trees, const Loss& loss, SharedTokens shared,
                  Gradients* gradients);

  const ModelConfig& config() const { return model_->config; }
  const DecoderOptions& options() const { return options_; }
  const Kernels& kernels() const { return kernels_; }
  ThreadPool* pool() const { return pool_; }
  // Bytes of the packed weights and of the buffers kept between calls.
  int64_t packed_bytes() const;
  int64_t buffer_bytes() const;
  // Rows that went through the layers since it was made.
  int64_t rows_computed() const { return rows_computed_; }

 private:
  struct Layer;       // packed weights
  struct LayerState;  // what backward needs of a layer
  struct Workspace;   // buffers that layers share
  struct Rows;        // the rows of one pass
  struct NormRows;    // what backward of a norm reads and writes
  struct KeptNorm;    // a norm with what forward kept of it
  struct HalfGradient;

  void PackForBackward();
  void Run(const Rows& rows, KvPages* pages, bool keep, Floats* hidden);
  void RoomFor(int64_t index, int64_t count, LayerState* state) const;
  void ForwardLayer(int64_t index, const Rows& rows, KvPages* pages, LayerState* state);
  void NormRowsOf(int norm, int64_t begin, int64_t end, LayerState* state, bool middle,
                  float* normed) const;
  void FinishQkv(int64_t index, const Rows& rows, int64_t begin, int64_t end, LayerState* state);
  void WriteKeys(int64_t index, const Rows& rows, KvPages* pages, const LayerState& state);
  void AttendRows(int64_t index, const Rows& rows, KvPages* pages, LayerState* state);
  void FinishLayer(int64_t index, int64_t begin, int64_t end, LayerState* state, ThreadPool* pool);
  void NormOutput(int norm, int64_t begin, int64_t end, KeptOutput* kept, float* rows) const;
  void Gate(const float* gate_up, int64_t ffn, float* activated) const;
  void GateBackward(const float* gate_up, const float* dactivated, int64_t ffn,
                    float* dgate_up) const;
  // The experts' half: what is added to the stream, for some rows; and its gradient.
  struct Routed;
  void ChooseExperts(int64_t index, const Routed& rows, ThreadPool* pool, LayerState* state) const;
  void ExpertsForward(int64_t index, const Routed& rows, ThreadPool* pool, LayerState* state,
                      float* out) const;
  void ExpertsBackward(int64_t index, int64_t rows, const LayerState& state, Gradients* gradients);
  struct ExpertRows;
  void OneExpertBackward(int64_t index, int64_t expert, const LayerState& state, ExpertRows* rows,
                         Gradients* gradients);
  void RouterBackward(int64_t index, int64_t rows, const LayerState& state, ExpertRows* of_experts,
                      Gradients* gradients);

  float* GatherStates(const TreeBatch& batch, std::span<const size_t> predictions,
                      const Floats& hidden);
  void LogitsOf(const TreeBatch& batch, std::span<const size_t> predictions, const Floats& hidden,
                float* logits);
  void ScoreRows(TreeBatch* batch, const Floats& hidden, bool keep);
  void OutputBackward(TreeBatch* batch, const Floats& hidden, Gradients* gradients);

  void LayersBackward(TreeBatch* batch, Gradients* gradients);
  void FeedForwardBackward(int64_t index, int64_t rows, const LayerState& state,
                           Gradients* gradients);
  void SinksBackward(int64_t index, int64_t rows, const LayerState& state, Gradients* gradients);
  void AttentionHalfBackward(int64_t index, const TreeBatch& batch, const LayerState& state,
                             Gradients* gradients);
  void AttentionBackward(int64_t index, const TreeBatch& batch, const LayerState& state,
                         Gradients* gradients);
  void HeadNormsBackward(int64_t index, int64_t rows, const LayerState& state,
                         Gradients* gradients);
  void AddBiasGradient(const float* dy, int64_t dy_row, int64_t rows, int64_t size,
                       Floats* dbias) const;
  void NormBackward(const NormRows& rows, int norm, Gradients* gradients);
  void NormBackwardBlock(const NormRows& rows, int norm, int64_t begin, int64_t end,
                         float* partial) const;
  void AddNormPartials(const float* partial, int64_t rows, int64_t size, int norm,
                       Gradients* gradients) const;
  void NormBlockBackward(const KeptNorm& norm, const float* dy, int64_t begin, int64_t end) const;
  void NormAgain(const KeptNorm& norm, int64_t begin, int64_t end, float* normed) const;
  void HalfGradientBlock(const HalfGradient& half, int64_t begin, int64_t end) const;
  void BeginHalfNorm(const HalfGradient& half, int64_t rows);
  void AddHalfNorm(const HalfGradient& half, int64_t rows, Gradients* gradients);

  void ForRows(int64_t rows, const std::function<void(int64_t, int64_t)>& body) const;
  void ForBlocks(int64_t rows,
                 const std::function<void(int64_t, int64_t, ThreadPool*)>& body) const;
  void Round(float* values, int64_t count) const;
  const float* Weights(int index) const { return model_->parameters[index].value.data(); }
  // What a norm multiplies by.
  const float* NormWeights(int index) const;
  void PrepareNorms();
  float EmbeddingScale() const;
  AttentionHead HeadOf(int64_t index, const KvPages* pages, int64_t kv_head) const;
  const RopeTable* RopeOf(int64_t index) const;  // null: nothing turns
  void CapLogits(int64_t count, float* logits) const;

  const Model* model_;
  DecoderOptions options_;
  ThreadPool* pool_;
  const Kernels& kernels_;
  RopeTable rope_, local_rope_;
  std::vector<Layer> layers_;
  std::vector<Floats> norms_;  // per parameter, where norms add one to their weight
  Projection head_;
  int64_t block_rows_;  // that go through a step together
  bool packed_for_backward_ = false;
  bool use_adapters_ = true;
  int64_t rows_computed_ = 0;
  KvPages pages_;  // of the trees of a call; empty between calls
  std::vector<LayerState> states_;
  std::unique_ptr<Workspace> work_;
  mutable ThreadPool serial_{1};
};

}  // namespace hone
