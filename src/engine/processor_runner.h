#pragma once

#include <optional>

#include "engine/decoder.h"
#include "engine/model_runner.h"

namespace hone {

// The model computed by this machine's processor: the decoder, with gradients and optimiser beside
// it. The model's own weights are the ones that it computes with and changes.
class ProcessorRunner : public ModelRunner {
 public:
  // `model` and `pool` must outlive it.
  ProcessorRunner(Model* model, DecoderOptions options, ThreadPool* pool);

  const ModelConfig& config() const override { return model_->config; }
  std::unique_ptr<PagePool> NewPages(int64_t bytes) override;
  int64_t rows_per_step() const override { return 512; }
  void BeginAdvance(std::span<const Chunk> chunks, PagePool* pages,
                    std::span<const DrawOrder> orders) override;
  std::vector<DrawnToken> EndAdvance() override { return std::move(drawn_); }
  void AbandonAdvance() override { drawn_.clear(); }
  bool computes_beside() const override { return false; }

  void UseAdapters(bool use) override { decoder_.UseAdapters(use); }
  std::vector<TreeLogprobs> LogProbs(std::span<const Tree> trees) override {
    return decoder_.LogProbs(trees);
  }
  void Accumulate(std::span<const Tree> trees, const Loss& loss, SharedTokens shared) override;
  double Step(const OptimizerOptions& options) override;
  bool ShareSteps(const StepShare* share) override;
  void ForgetGradients() override;
  void SetGradientsAside() override;
  void AddGradientsAside() override;
  Gradients TakeGradients() override { return std::move(gradients_); }
  void PutGradients(Gradients gradients) override;
  std::vector<float> GradientOf(size_t parameter) const override;

  void TakeWeights() override { decoder_.Repack(); }
  void BringWeights(Model*) override {}
  bool HasMoments() const override { return optimizer_.has_value(); }
  void BringMoments(Optimizer* optimizer) override;
  void TakeMoments(Optimizer optimizer) override;

  int64_t rows_computed() const override { return decoder_.rows_computed(); }
  std::vector<std::pair<std::string, int64_t>> Memory() const override;
  std::string Description() const override;

 private:
  void PrepareTraining();

  Model* model_;
  ThreadPool* pool_;
  Decoder decoder_;
  std::optional<Optimizer> optimizer_;  // from the first training on
  const StepShare* share_ = nullptr;
  Gradients gradients_;            // without buffers after TakeGradients
  std::vector<Gradients> aside_;   // the last one is the last that was set aside
  std::vector<Gradients> spare_;   // memory of those that came back
  Floats hidden_, last_, logits_;  // of BeginAdvance
  std::vector<DrawnToken> drawn_;
};

}  // namespace hone
