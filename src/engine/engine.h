#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "engine/device/device.h"
#include "engine/lora.h"
#include "engine/model.h"
#include "engine/model_runner.h"
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
    bool recompute_activations = false;
    DeviceKind device = DeviceKind::kCpu;  // what computes
    bool small_moments = false;            // AdamW's take a byte each; on a device only
    std::vector<TokenId> forbidden;        // the run's forbidden set, for turns that name it
    SamplerOptions sampler;
  };

  // Throws DeviceError where the device that is asked for cannot be opened.
  Engine(Model model, Options options);
  Engine(const Engine&) = delete;  // its parts point into each other
  Engine& operator=(const Engine&) = delete;
  // A Hugging Face folder, with the adapters of its folder "adapter" if there is one.
  static Result<std::unique_ptr<Engine>> Open(const std::filesystem::path& folder, Options options);

  const ModelConfig& config() const { return model_.config; }
  const Model& model() const;  // its weights as they are now
  const std::vector<TokenId>& forbidden() const { return options_.forbidden; }
  // Whether these are tokens of the model, as many as it has positions; the error names the first
  // that is not.
  Result<void> CheckTokens(std::span<const TokenId> tokens) const;
  // Whether every path of a tree is, and its supports are of the model's vocabulary. Others abort
  // scoring and training: records of another model are to be checked first.
  Result<void> CheckTree(const Tree& tree) const;

  // Draws all of them together; equal prompts are computed once. An error when one does not fit
  // into the sampler's memory.
  Result<std::vector<SampleResult>> Sample(std::span<const SampleRequest> requests);
  // For turns that come and go (engine/sampler.h). Not to be used across a Step.
  std::unique_ptr<Sampler> NewSampler();

  // What the model, or with kBase the model without its adapters, says of every token.
  enum class Weights { kCurrent, kBase };
  std::vector<TreeLogprobs> LogProbs(std::span<const Tree> trees,
                                     Weights weights = Weights::kCurrent);
  // What the model says with other adapters in the place of its own, on the same frozen weights.
  std::vector<TreeLogprobs> LogProbsWith(const Adapters& adapters, std::span<const Tree> trees);
  // Adds the gradient of a loss to what Step will use. The trees of a call are computed together,
  // each shared beginning once; a tree is never split, and memory grows with their tokens.
  void Accumulate(std::span<const Tree> trees, const Loss& loss,
                  SharedTokens shared = SharedTokens::kRepeat);
  // Changes the weights by the accumulated gradient and forgets it. Returns its norm; when that is
  // not finite, the weights stay as they are.
  double Step(const OptimizerOptions& options);
  void ForgetGradients();  // the weights stay as they are
  // As ModelRunner has them (for learn/together/); how many numbers each gradient has.
  void SetGradientsAside() { runner_->SetGradientsAside(); }
  void AddGradientsAside() { runner_->AddGradientsAside(); }
  Gradients TakeGradients();
  void PutGradients(Gradients gradients);
  std::vector<size_t> GradientSizes() const;
  void ShareSteps(const StepShare* share) { shares_steps_ = runner_->ShareSteps(share); }
  bool shares_steps() const { return shares_steps_; }
  Optimizer Moments() const;  // its state, brought here; shared ones from all processes

  // The weights become (1 - share) of what they are and `share` of the other's, which has the same
  // parameters (CHECK); with a share of 1 they are the other's bits.
  void MixIn(const Model& other, double share);
  // Becomes another model of this shape; no sampler may be there. Others may read config meanwhile.
  Result<void> Become(Model other);

  // The whole training state as a folder: a Hugging Face model (in `type`), adapters as a PEFT
  // folder, the float32 master weights, the optimiser. Written aside and renamed: after a kill the
  // folder is the old one or the new one. An accumulated gradient is not part of it (CHECK): states
  // lie between steps.
  // `base` is what adapters call the model that they belong to; empty: the folder itself.
  Result<void> Save(const std::filesystem::path& folder, SaveType type,
                    const std::string& base = "") const;
  // Whether a folder has more than a model: the master weights that Load goes on with.
  static bool HasState(const std::filesystem::path& folder);
  // A state that lacks any part is an error.
  static Result<std::unique_ptr<Engine>> Load(const std::filesystem::path& folder, Options options);

  std::string WeightsHash() const;                  // SHA-256 of all master weights
  ThreadPool* pool() const { return pool_.get(); }  // for others while it does not compute
  // Tokens that went through the layers so far, in sampling, scoring and training.
  int64_t tokens_computed() const { return runner_->rows_computed(); }
  // Whether something else is well done between Sampler::Begin and Sampler::End.
  bool computes_beside() const { return runner_->computes_beside(); }
  // What computes: the processor's instruction set, or the device with its libraries.
  std::string Description() const { return runner_->Description(); }
  // What it takes of the device that computes, when that has done all it was asked for; none for
  // the processor.
  std::optional<DeviceUse> Use() const { return runner_->Use(); }
  std::vector<std::pair<std::string, int64_t>> Memory() const;  // what it holds, in bytes, by name

 private:
  mutable Model model_;  // brought up to date when somebody asks, where it is trained elsewhere
  Options options_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<ModelRunner> runner_;
  bool accumulated_ = false, shares_steps_ = false;
};

}  // namespace hone
