// Any bytes as a safetensors file, and any JSON as a model's configuration.

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/model_config.h"
#include "engine/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const hone::TemporaryDirectory directory;
  const auto path = directory.path() / "x.safetensors";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  CHECK(file != nullptr);
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  if (const auto tensors = hone::SafetensorsFile::Open(path); tensors.ok()) {
    for (const auto& [name, view] : tensors->tensors()) {
      if (view.dtype == hone::DType::kI32 || view.dtype == hone::DType::kI64) continue;
      std::vector<float> values(static_cast<size_t>(view.count()));
      hone::CopyAsF32(view, values);
    }
  }
  if (const auto json = hone::ParseJson(bytes); json.ok()) {
    if (const auto config = hone::ModelConfigFromJson(*json); config.ok()) {
      (void)config->ParameterCount();
      CHECK(hone::ModelConfigFromJson(hone::ModelConfigToJson(*config)).ok());
    }
  }
  return 0;
}
