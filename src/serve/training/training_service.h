#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "serve/batcher.h"
#include "serve/http_server.h"
#include "serve/training/futures.h"
#include "serve/training/model_trainer.h"
#include "serve/training/numbered_calls.h"

namespace hone {

struct TrainingOptions {
  std::filesystem::path save_to;  // where weights may be written; empty: nowhere
  int64_t max_tokens = 4096;      // of one sample; requests for more get this many
  uint64_t seed = 0;              // of what clients ask for without one, and of names
  Futures::Options futures;       // the prefix is the service's
  // How long retrieve_future waits before it says "try again".
  std::chrono::milliseconds patience{20'000};
};

// Training over HTTP in the shape of Tinker's API (docs/serve-train.md): everything below /api/v1/.
// A call that computes is taken into the batcher's order and answered with the id of its outcome.
// Thread-safe.
class TrainingService {
 public:
  // Both must outlive it, and the batcher must have dropped its work before this is destroyed.
  TrainingService(ServedModel* model, Batcher* batcher, TrainingOptions options);

  static bool Serves(const std::string& path);
  // An HttpHandler for these paths.
  void Handle(HttpExchange& exchange);

  TrainerState state() const { return trainer_.state(); }
  // For GET /health: what is in training, and how far it is.
  Json State() const;
  // SHA-256 of the weights after the calls that were accepted before; absent where nobody waits for
  // it any more.
  std::optional<std::string> Weights(std::stop_token stop);

 private:
  using Answer = ServerResponse (TrainingService::*)(HttpExchange&);
  struct Route {
    std::string_view path;
    std::string_view method;
    Answer answer;
  };
  static std::span<const Route> Routes();

  ServerResponse HealthCheck(HttpExchange& exchange);
  ServerResponse ClientConfig(HttpExchange& exchange);
  ServerResponse Capabilities(HttpExchange& exchange);
  ServerResponse Telemetry(HttpExchange& exchange);
  ServerResponse CreateSession(HttpExchange& exchange);
  ServerResponse Heartbeat(HttpExchange& exchange);
  ServerResponse CreateSamplingSession(HttpExchange& exchange);
  ServerResponse CreateModel(HttpExchange& exchange);
  ServerResponse UnloadModel(HttpExchange& exchange);
  ServerResponse GetInfo(HttpExchange& exchange);
  ServerResponse Forward(HttpExchange& exchange);
  ServerResponse ForwardBackward(HttpExchange& exchange);
  ServerResponse OptimStep(HttpExchange& exchange);
  ServerResponse SaveWeights(HttpExchange& exchange);
  ServerResponse SaveWeightsForSampler(HttpExchange& exchange);
  ServerResponse LoadWeights(HttpExchange& exchange);
  ServerResponse WeightsInfo(HttpExchange& exchange);
  ServerResponse Sample(HttpExchange& exchange);
  ServerResponse Retrieve(HttpExchange& exchange);
  ServerResponse Sampler(const std::string& path) const;

  // What a call does when its turn has come.
  using Deed = std::function<Result<TrainingOutcome>()>;
  ServerResponse Accept(const ModelCall& call, const std::string& body, Batcher::When when,
                        Deed deed);
  ServerResponse AcceptForward(Result<ForwardCall> call, const std::string& body);
  ServerResponse AcceptSave(Result<SaveCall> call, const std::string& body);
  std::vector<Batcher::Turn> TurnsOf(const DrawCall& call, const std::string& sampler);
  std::string NewModelId();

  ServedModel* model_;
  Batcher* batcher_;
  const TrainingOptions options_;
  ModelTrainer trainer_;
  Futures futures_;
  std::atomic<uint64_t> samples_ = 0;

  // Held while a call takes its place, so that ids and places have one order.
  Mutex order_;
  uint64_t models_ HONE_GUARDED_BY(order_) = 0;
  NumberedCalls numbered_ HONE_GUARDED_BY(order_);
};

}  // namespace hone
