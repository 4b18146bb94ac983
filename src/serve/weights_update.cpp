#include "serve/weights_update.h"

#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "engine/weights/model_match.h"
#include "train/folder/model_place.h"

namespace hone {

std::string ServedWeights::hash() const {
  MutexLock lock(mutex_);
  return hash_;
}

bool ServedWeights::Submit(std::stop_token stop,
                           const std::function<void(const std::string& hash)>& submit) {
  std::string hash;
  {
    MutexLock lock(mutex_);
    if (!changed_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return !closed_; })) return false;
    ++submitting_;
    hash = hash_;
  }
  struct Left {
    ServedWeights* weights;
    ~Left() {
      MutexLock lock(weights->mutex_);
      --weights->submitting_;
      weights->changed_.notify_all();
    }
  };
  const Left left{this};  // also where memory runs out meanwhile
  submit(hash);
  return true;
}

Result<std::unique_ptr<Engine>> ServedWeights::Load(const std::string& folder) const {
  HONE_ASSIGN_OR_RETURN(const ModelPlace place, FindModel(folder, "last"));
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(place.folder));
  HONE_RETURN_IF_ERROR(CheckSameDecoder(engine_->config(), config));  // before it is read whole
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> loaded,
                        OpenModel(place.folder, {.threads = 1, .device = DeviceKind::kCpu}));
  HONE_RETURN_IF_ERROR(CheckSameDecoder(engine_->config(), loaded->model()));
  return loaded;
}

Result<std::string> ServedWeights::Update(const std::string& folder, Batcher* batcher) {
  MutexLock one(updating_);
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Engine> loaded, Load(folder));
  Model model = loaded->model();
  std::string hash = loaded->WeightsHash();
  loaded.reset();
  struct Closed {
    ServedWeights* weights;
    ~Closed() {
      MutexLock lock(weights->mutex_);
      weights->closed_ = false;
      weights->changed_.notify_all();
    }
  };
  const Closed closed{this};  // opens again, whatever happens
  {
    // From here on nothing more is submitted with the old weights.
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.wait(lock, [&]() HONE_REQUIRES(mutex_) { return submitting_ == 0; });
  }
  HONE_RETURN_IF_ERROR(batcher->Change([&] { return engine_->Become(std::move(model)); }));
  MutexLock lock(mutex_);
  hash_ = hash;
  return hash;
}

Result<std::string> ReadWeightsUpdate(std::string_view body) {
  const auto bad = [](std::string message) {
    return Error(ErrorCode::kInvalidArgument, std::move(message));
  };
  const Result<Json> json = ParseJson(body);
  if (!json.ok() || !json->is_object()) return bad("the body is not a JSON object");
  std::string folder;
  for (const auto& [key, value] : json->AsObject()) {
    if (key == "model_path" && value.is_string()) {
      folder = value.AsString();
    } else if (key == "abort_all_requests" && value != Json(false)) {
      return bad("abort_all_requests: requests under way are finished first, always");
    } else if (key == "load_format" && !value.is_null()) {
      return bad("load_format: weights are safetensors");
    } else if (key != "weight_version" && key != "flush_cache" && key != "abort_all_requests" &&
               key != "load_format") {
      return bad(fmt::format("{}: there is no such parameter", key));
    }
  }
  if (folder.empty()) {
    return bad("model_path: is missing: a folder of this machine with the weights");
  }
  return folder;
}

}  // namespace hone
