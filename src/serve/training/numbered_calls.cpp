#include "serve/training/numbered_calls.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr size_t kModelsKept = 16, kNumbersKept = 4096;

}  // namespace

void NumberedCalls::Name(const std::string& model_id, std::string_view in_training) {
  models_.push_back({model_id, {}});
  if (models_.size() <= kModelsKept) return;
  models_.erase(std::find_if(models_.begin(), models_.end(),
                             [&](const Calls& one) { return one.model_id != in_training; }));
}

const NumberedCalls::Calls* NumberedCalls::Of(const std::string& model_id) const {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [&](const Calls& one) { return one.model_id == model_id; });
  return found == models_.end() ? nullptr : &*found;
}

Result<std::optional<std::string>> NumberedCalls::Repeated(const ModelCall& call,
                                                           const std::string& hash) const {
  const Calls* calls = call.seq_id ? Of(call.model_id) : nullptr;
  if (calls == nullptr || calls->newest.empty()) return std::optional<std::string>();
  const auto known = calls->newest.find(*call.seq_id);
  if (known != calls->newest.end() && known->second.hash == hash) {
    return std::optional(known->second.request_id);
  }
  const int64_t last = calls->newest.rbegin()->first;
  if (*call.seq_id > last) return std::optional<std::string>();
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("seq_id: {} comes after {}; calls of a model count upwards", *call.seq_id, last));
}

void NumberedCalls::Add(const ModelCall& call, const std::string& hash,
                        const std::string& request_id) {
  if (!call.seq_id) return;
  for (Calls& calls : models_) {
    if (calls.model_id != call.model_id) continue;
    calls.newest[*call.seq_id] = {hash, request_id};
    if (calls.newest.size() > kNumbersKept) calls.newest.erase(calls.newest.begin());
  }
}

}  // namespace hone
