#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/decoder.h"
#include "engine/model.h"
#include "engine/optimizer.h"
#include "engine/sampler.h"

namespace hone {

// The waist: what the rest of Hone knows of models and gradients. One model that is sampled from,
// scored and trained by the same kernels. Not synchronised; it uses its own threads inside.
class Engine {
 public:
  struct Options {
    Precision precision = Precision::kBf16;
    int threads = 0;  // 0: as many as the machine has
  };

  Engine(Model model, Options options);
  // MODEL is a Hugging Face folder.
  static Result<std::unique_ptr<Engine>> Open(const std::filesystem::path& folder, Options options);

  const ModelConfig& config() const { return model_.config; }
  const Model& model() const { return model_; }
  // Whether these are tokens of the model, as many as it has positions; the error names the first
  // that is not.
  Result<void> CheckTokens(std::span<const TokenId> tokens) const;

  std::vector<SampleResult> Sample(std::span<const SampleRequest> requests) const;
  // Fills in logprob and entropy of every token after the first.
  void LogProbs(std::span<Decoder::Sequence> sequences) const;
  // Adds the gradient of a loss (Decoder::Accumulate) to what Step will use.
  void Accumulate(std::span<Decoder::Sequence> sequences,
                  const std::function<void(std::span<Decoder::Sequence>)>& loss);
  // Changes the weights by the accumulated gradient and forgets it. Returns its norm.
  double Step(const AdamWOptions& options);

  // The whole training state as a folder: a Hugging Face model (in `type`), the float32 master
  // weights, the optimiser. Written aside and renamed: after a kill the folder is the old one or
  // the new one. An accumulated gradient is not part of it (CHECK): states lie between steps.
  Result<void> Save(const std::filesystem::path& folder, SaveType type) const;
  // A state that lacks any part is an error.
  static Result<std::unique_ptr<Engine>> Load(const std::filesystem::path& folder, Options options);

  // SHA-256 of all master weights.
  std::string WeightsHash() const;

 private:
  void Repack();
  void ForgetGradients();

  Model model_;
  Options options_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Decoder> decoder_;
  AdamW optimizer_;
  std::vector<std::vector<float>> gradients_;
  bool accumulated_ = false;
};

}  // namespace hone
