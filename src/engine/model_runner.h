#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/draw.h"
#include "engine/logprobs.h"
#include "engine/model.h"
#include "engine/optimizer.h"
#include "engine/page_pool.h"

namespace hone {

// What a run takes of the device that computes it.
struct DeviceUse {
  int64_t taken_bytes = 0, peak_bytes = 0;  // of buffers, now and at most
  int64_t memory = 0, free_memory = 0;      // of the device: the difference is everybody's
  double busy_seconds = 0;                  // DeviceApi::busy_seconds, since the model was opened
};

// What computes a model: this machine's processor (processor_runner.h) or a device
// (device/device_runner.h). The engine owns one and says which.
//
// What a token's row becomes depends on the tokens before it on its path, the weights and the kind
// of runner, and on nothing else: whatever the batch, the chunks, the cache or the tree, sampling,
// scoring and training see the same bits.
//
// Not synchronised.
class ModelRunner {
 public:
  virtual ~ModelRunner() = default;

  virtual const ModelConfig& config() const = 0;

  // Pages for a sampler, of at most so many bytes; at least one.
  virtual std::unique_ptr<PagePool> NewPages(int64_t bytes) = 0;
  // Tokens that a sampler best computes at once.
  virtual int64_t rows_per_step() const = 0;
  // Computes the tokens of some chunks, whose pages are of NewPages, and draws the token after each
  // chunk that has an order with a request; the others' entries are left as they are. As many
  // orders as chunks. In two halves: a device computes between them, so that the host may do
  // something else meanwhile, but nothing with this runner. What was given stays as it is until
  // EndAdvance, or AbandonAdvance for whoever does not want to know any more.
  virtual void BeginAdvance(std::span<const Chunk> chunks, PagePool* pages,
                            std::span<const DrawOrder> orders) = 0;
  virtual std::vector<DrawnToken> EndAdvance() = 0;
  virtual void AbandonAdvance() = 0;
  // Whether there is something to gain between the halves.
  virtual bool computes_beside() const = 0;

  // While false, LoRA adapters are left out: the base model answers.
  virtual void UseAdapters(bool use) = 0;
  // Each shared beginning is computed once.
  virtual std::vector<TreeLogprobs> LogProbs(std::span<const Tree> trees) = 0;
  // Forward over whole trees, then `loss` fills in the derivatives, then backward: the gradients
  // are added to those that Step will use.
  virtual void Accumulate(std::span<const Tree> trees, const Loss& loss, SharedTokens shared) = 0;
  // Changes the weights by the gradients, and forgets these. Returns their norm; when that is not
  // finite, the weights stay as they are.
  virtual double Step(const OptimizerOptions& options) = 0;
  // From now on steps are taken together with others; null: no longer. It must outlive this. False:
  // this runner takes whole steps alone.
  virtual bool ShareSteps(const StepShare* /*share*/) { return false; }
  virtual void ForgetGradients() = 0;
  // What was accumulated is set aside, and nothing is accumulated; and back: what was set aside last
  // plus what was accumulated since is what is accumulated.
  virtual void SetGradientsAside() = 0;
  virtual void AddGradientsAside() = 0;
  // What was accumulated, brought here; nothing is accumulated afterwards. Empty: nothing was.
  virtual Gradients TakeGradients() = 0;
  // The other way: these become what was accumulated, in the place of what was before.
  virtual void PutGradients(Gradients gradients) = 0;
  // What was accumulated for one parameter; empty where it is not trained, or nothing was.
  virtual std::vector<float> GradientOf(size_t parameter) const = 0;

  // The weights of the model that it was made for were changed by others.
  virtual void TakeWeights() = 0;
  // The same, of the adapters alone.
  virtual void TakeAdapters() { TakeWeights(); }
  // Brings the model's weights up to date, where they live elsewhere.
  virtual void BringWeights(Model* model) = 0;
  // The optimiser's state; none before the first training.
  virtual bool HasMoments() const = 0;
  virtual void BringMoments(Optimizer* optimizer) = 0;
  virtual void TakeMoments(Optimizer optimizer) = 0;

  // Tokens that went through the layers so far.
  virtual int64_t rows_computed() const = 0;
  // What it holds, in bytes, by name, beyond the model's own weights.
  virtual std::vector<std::pair<std::string, int64_t>> Memory() const = 0;
  // None for the processor.
  virtual std::optional<DeviceUse> Use() const { return std::nullopt; }
  // Device and libraries, for the record of a run: "cpu avx512_bf16", "NVIDIA H200 ...".
  virtual std::string Description() const = 0;
};

}  // namespace hone
