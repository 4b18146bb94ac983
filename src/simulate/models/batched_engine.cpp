#include "simulate/models/batched_engine.h"

namespace hone {

Result<SampleResult> BatchedEngine::Sample(SampleRequest request) {
  Waiting own{.request = std::move(request)};
  MutexLock lock(mutex_);
  waiting_.push_back(&own);
  while (!own.result) {
    if (drawing_) {
      drawn_.wait(lock,
                  [&]() HONE_REQUIRES(mutex_) { return !drawing_ || own.result.has_value(); });
    } else {
      DrawBatch();
    }
  }
  return *std::move(own.result);
}

// The lock is given up meanwhile: one draws for all that wait.
void BatchedEngine::DrawBatch() {
  drawing_ = true;
  std::vector<Waiting*> batch;
  batch.swap(waiting_);
  mutex_.unlock();
  std::vector<SampleRequest> requests;
  for (Waiting* waiting : batch) requests.push_back(std::move(waiting->request));
  Result<std::vector<SampleResult>> results = engine_->Sample(requests);
  mutex_.lock();
  for (size_t i = 0; i < batch.size(); ++i) {
    if (results.ok()) {
      batch[i]->result.emplace(std::move((*results)[i]));
    } else {
      batch[i]->result.emplace(results.error());
    }
  }
  drawing_ = false;
  drawn_.notify_all();
}

}  // namespace hone
