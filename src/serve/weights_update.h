#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "engine/engine.h"
#include "serve/batcher.h"

namespace hone {

// The weights that a server draws with, and how they change: requests that came before a change are
// drawn with the weights that there were, and say so; those that come after it with the new ones.
// Thread-safe.
class ServedWeights {
 public:
  // `hash` is the SHA-256 of the engine's weights.
  ServedWeights(Engine* engine, std::string hash) : engine_(engine), hash_(std::move(hash)) {}

  // SHA-256 of the weights that requests are answered with from now on.
  std::string hash() const;
  // Calls `submit` with that hash; whatever it submits is drawn with these weights. Waits while
  // weights are changed; false where that was stopped, and then nothing is called.
  bool Submit(std::stop_token stop, const std::function<void(const std::string& hash)>& submit);

  // Loads the weights of a folder (train/folder/model_place.h) and lets the batcher's engine have
  // them. Waits until turns that were submitted before are drawn. Returns their hash. An error
  // leaves everything as it was.
  Result<std::string> Update(const std::string& folder, Batcher* batcher);

 private:
  // The weights of a folder, of the engine's shape.
  Result<std::unique_ptr<Engine>> Load(const std::string& folder) const;

  Engine* const engine_;
  Mutex updating_;  // one at a time
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::string hash_ HONE_GUARDED_BY(mutex_);
  int64_t submitting_ HONE_GUARDED_BY(mutex_) = 0;
  bool closed_ HONE_GUARDED_BY(mutex_) = false;  // nothing is submitted before the next weights
};

// The body of POST /update_weights_from_disk: the folder that it names. Other parameters of
// SGLang's are known where they ask for what is done here anyway.
Result<std::string> ReadWeightsUpdate(std::string_view body);

}  // namespace hone
