// Any bytes as what says how an encoder of texts computes, and as a request for vectors.

#include <cstdint>

#include "base/check.h"
#include "base/json.h"
#include "engine/encoder/encoder_shape.h"
#include "serve/embedding_request.h"
#include "text/vocabulary/text_frame.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = hone::ReadEmbeddingRequest(bytes); request.ok()) {
    CHECK(!request->inputs.empty() && request->inputs.size() <= hone::kMostEmbeddings);
  }
  (void)hone::TextFrameFromJson(bytes);
  const auto json = hone::ParseJson(bytes);
  if (!json.ok()) return 0;
  if (const auto config = hone::EncoderShapeFromJson(*json); config.ok()) {
    CHECK(config->head_dim() * config->heads == config->width);
  }
  hone::Pooling pooling;
  std::string folder;
  (void)hone::ReadPoolingConfig(*json, &pooling);
  (void)hone::ReadModules(*json, &pooling, &folder);
  return 0;
}
