// Any bytes as what a client of training asks for: JSON or protobuf, read or refused.

#include <cstdint>

#include "base/check.h"
#include "engine/token_check.h"
#include "serve/training/saved_weights.h"
#include "serve/training/training_requests.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  hone::ModelConfig model;
  model.vocab = 100;
  model.max_positions = 16;
  for (const auto& call :
       {hone::ReadForwardCall(bytes, true, model), hone::ReadForwardCall(bytes, false, model),
        hone::ReadForwardProto(bytes, model)}) {
    if (!call.ok()) continue;
    for (const hone::WeighedSequence& sequence : call->data) {
      CHECK(hone::CheckTokens(model, sequence.tokens).ok());
      CHECK(hone::CheckSequence(call->loss, sequence).ok());
    }
  }
  if (const auto draw = hone::ReadDrawCall(bytes, model); draw.ok()) {
    CHECK(!draw->prompt.empty() && hone::CheckTokens(model, draw->prompt).ok());
  }
  if (const auto place = hone::ParseSavedPath(bytes); place.ok()) {
    CHECK(place->Path() == bytes);
    CHECK(place->In("a").lexically_normal() == place->In("a"));
  }
  (void)hone::ReadCreateCall(bytes);
  (void)hone::ReadStepCall(bytes);
  (void)hone::ReadSaveCall(bytes, false);
  (void)hone::ReadLoadCall(bytes);
  (void)hone::ReadSamplerCall(bytes);
  (void)hone::ReadModelCall(bytes);
  (void)hone::ReadRetrieveCall(bytes);
  (void)hone::ReadPathCall(bytes);
  return 0;
}
