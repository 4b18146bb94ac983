#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/rng.h"
#include "serve/served_model.h"
#include "serve/training/saved_weights.h"
#include "serve/training/training_outcomes.h"
#include "serve/training/training_requests.h"

namespace hone {

// What is known of the model in training.
struct TrainerState {
  std::string model_id;     // empty: none is in training
  int64_t rank = 0;         // of its adapters; 0: all weights are trained
  int64_t steps = 0;        // that its optimiser took
  int64_t version = 0;      // how often its weights changed: by steps, and by loading
  int64_t accumulated = 0;  // sequences whose gradients wait for the next step
  bool lost = false;        // memory ran out: the next step is refused, and begins anew
  bool unsaved = false;     // steps were taken since the weights were saved
  std::string weights;      // SHA-256, where it was asked for since the weights changed; else ""
};

// The model that clients train: the served one, one at a time. What is drawn is drawn with its very
// weights. All but state() is only for the thread that draws (Batcher::Do), those that change the
// weights or the engine once no turn is under way.
class ModelTrainer {
 public:
  struct Options {
    std::filesystem::path save_to;               // empty: nothing can be saved
    uint64_t seed = 0;                           // of adapters that are asked for without one
    std::function<void(Engine*)> use = nullptr;  // told of another engine before it is used
  };
  // The model must outlive it.
  ModelTrainer(ServedModel* model, Options options);

  // Thread-safe.
  TrainerState state() const;

  // Changes the engine. A model whose steps were not saved is not given up for another.
  Result<void> Create(const std::string& model_id, const CreateCall& call);
  Result<void> Unload(const ModelCall& call);
  // Changes the weights, and forgets accumulated gradients.
  Result<void> Load(const LoadCall& call);
  // Changes the weights. The norm of the gradient.
  Result<double> Step(const StepCall& call);

  // An error leaves the accumulated gradient as it was, except where memory ran out: then it is
  // forgotten, and the next step is refused.
  Result<ForwardOutcome> Forward(const ForwardCall& call);
  // Returns the path, or the name of the sampler where nothing is written.
  Result<std::string> Save(const SaveCall& call);
  // SHA-256 of the weights as they are.
  std::string Weights();
  // Of every token; the first one's is 0.
  std::vector<float> PromptLogprobs(const std::vector<TokenId>& prompt);

  // The sampler that a choice means now: a name for CheckSampler, which says whether the weights
  // are still those of that sampler. This one is thread-safe.
  Result<std::string> SamplerOf(const SamplerChoice& choice) const;
  Result<void> CheckSampler(const std::string& sampler) const;
  // What lies at tinker://MODEL/... Thread-safe.
  Result<SavedCard> CardAt(const std::string& path) const;

 private:
  Result<void> CheckModel(const std::string& model_id) const;
  Result<std::unique_ptr<Engine>> FreshEngine(const std::filesystem::path& folder) const;
  void Use(std::unique_ptr<Engine> engine);
  void LoseGradient();  // forgets what was accumulated; the next step is refused
  template <typename Change>
  void SetState(const Change& change);

  ServedModel* model_;
  const Options options_;
  const std::string opened_;  // the hash of the weights that the server began with
  bool touched_ = false;      // the engine is not as it was opened
  mutable Mutex mutex_;
  TrainerState state_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
