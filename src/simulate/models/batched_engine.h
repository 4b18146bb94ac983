#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "engine/engine.h"

namespace hone {

// One engine that many threads draw from. What waits is drawn together; a sample depends on its
// request alone, so it makes no difference to anybody beside whom. Thread-safe.
class BatchedEngine {
 public:
  explicit BatchedEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  // Blocks. The prompt's tokens are the model's (Engine::CheckTokens).
  Result<SampleResult> Sample(SampleRequest request);

  // For reading what does not change.
  const Engine& engine() const { return *engine_; }

 private:
  struct Waiting {
    SampleRequest request;
    std::optional<Result<SampleResult>> result;
  };

  void DrawBatch() HONE_REQUIRES(mutex_);

  const std::unique_ptr<Engine> engine_;
  Mutex mutex_;
  ConditionVariable drawn_;
  bool drawing_ HONE_GUARDED_BY(mutex_) = false;
  std::vector<Waiting*> waiting_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
