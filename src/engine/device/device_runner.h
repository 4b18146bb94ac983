#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/device_decoder.h"
#include "engine/device/device_optimizer.h"
#include "engine/device/staging.h"
#include "engine/model_runner.h"
#include "engine/tree_batch.h"

namespace hone {

struct DeviceRunnerOptions {
  Precision precision = Precision::kBf16;
  bool recompute_activations = false;
  bool small_moments = false;  // AdamW's in 8 bits
  std::vector<TokenId> forbidden;
};

// The model on a device. Weights, gradients and the optimiser's state live there; the host's model
// is brought up to date when somebody asks for it. A step of sampling sends tokens and a few
// numbers and gets tokens and a few numbers back.
//
// Throws DeviceError when the device's memory is full or it has failed.
class DeviceRunner : public ModelRunner {
 public:
  // Whether devices have kernels for a model of this shape; the error says what they lack.
  static Result<void> Supports(const ModelConfig& config);
  // How long a sequence may be there: within the smallest window of the layers, where windows hide
  // nothing. Devices have no kernels for what lies beyond.
  static int64_t PositionsOf(const ModelConfig& config);

  // `model` must outlive it.
  DeviceRunner(Model* model, DeviceRunnerOptions options, std::shared_ptr<Device> device);
  ~DeviceRunner() override;

  const ModelConfig& config() const override { return model_->config; }
  std::unique_ptr<PagePool> NewPages(int64_t bytes) override;
  int64_t rows_per_step() const override { return 8192; }
  void BeginAdvance(std::span<const Chunk> chunks, PagePool* pages,
                    std::span<const DrawOrder> orders) override;
  std::vector<DrawnToken> EndAdvance() override;
  void AbandonAdvance() override { under_way_.reset(); }
  bool computes_beside() const override { return true; }

  void UseAdapters(bool use) override { decoder_.UseAdapters(use); }
  std::vector<TreeLogprobs> LogProbs(std::span<const Tree> trees) override;
  void Accumulate(std::span<const Tree> trees, const Loss& loss, SharedTokens shared) override;
  double Step(const OptimizerOptions& options) override;
  void ForgetGradients() override { weights_.ClearGradients(); }
  void SetGradientsAside() override { weights_.SetGradientsAside(); }
  void AddGradientsAside() override { weights_.AddGradientsAside(); }
  Gradients TakeGradients() override { return weights_.TakeGradients(); }
  void PutGradients(Gradients gradients) override;
  std::vector<float> GradientOf(size_t parameter) const override;

  void TakeWeights() override;
  void TakeAdapters() override;
  void BringWeights(Model* model) override;
  bool HasMoments() const override { return optimizer_ != nullptr; }
  void BringMoments(Optimizer* optimizer) override { optimizer_->Download(optimizer); }
  void TakeMoments(Optimizer optimizer) override;

  int64_t rows_computed() const override { return rows_computed_; }
  std::vector<std::pair<std::string, int64_t>> Memory() const override;
  std::optional<DeviceUse> Use() const override;
  std::string Description() const override;

 private:
  struct Drawing;     // the buffers of a draw
  struct Recording;   // a step of drawing that was recorded
  struct StepTables;  // what is drawn in a step
  struct TreeRows;    // the tables of a batch of trees on the device
  struct LossSlice;   // some predictions that the loss is interested in
  class LossTables;   // all of them

  DevicePass PassOf(std::span<const Chunk> chunks, DevicePages* pages, int64_t padded_rows,
                    Staging* staging);
  bool ReserveDraws(int64_t draws);
  DeviceDraw DrawOf(int64_t draws, bool plain) const;
  // What EndAdvance has to know of the step under way: what was ordered, and which of the orders
  // draw; `plain` as in DeviceDraw.
  struct UnderWay {
    std::span<const DrawOrder> orders;
    std::vector<size_t> drawing;
    bool plain;
  };
  void AddLists(const UnderWay& step, std::vector<DrawnToken>* drawn) const;
  void RunRecorded(const Recording& kind, const std::function<void()>& run);
  void ForgetRecordings();
  void PrepareTraining();

  void Describe(const TreeBatch& batch, bool keep, TreeRows* rows);
  void ScoreRows(TreeBatch* batch, TreeRows* rows, bool keep);
  void ScoreValues(TreeBatch* batch);
  void OutputBackward(const TreeBatch& batch, const TreeRows& rows);
  void SliceBackward(const LossSlice& slice, const TreeRows& rows);
  DeviceDistribution DistributionOf(int64_t first, int64_t count, const TreeRows& rows) const;
  void Score(int64_t first, int64_t count, const TreeRows& rows, float* logits);

  Model* model_;
  DeviceRunnerOptions options_;
  std::shared_ptr<Device> device_;
  const DeviceApi& api_;
  DeviceContext* context_;
  DeviceWeights weights_;
  DeviceDecoder decoder_;
  std::unique_ptr<DeviceOptimizer> optimizer_;  // from the first training on
  bool ahead_ = false;                          // of the host's weights
  int64_t rows_computed_ = 0;
  DeviceBuffer forbidden_;

  Staging staging_;  // of BeginAdvance
  Staging tree_tables_, loss_tables_, embedding_tables_;
  std::unique_ptr<Drawing> drawing_;
  std::optional<UnderWay> under_way_;
  std::vector<std::unique_ptr<Recording>> recordings_;
  DevicePages tree_pages_;  // of the trees of a call; empty between calls
  DeviceBuffer states_, logits_, dlogits_, dstates_, hidden_, dhidden_, scale_, scores_, values_;
};

}  // namespace hone
