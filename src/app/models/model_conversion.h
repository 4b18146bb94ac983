#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "engine/model_config.h"

namespace hone {

// What `hone model convert` does, between Hugging Face folders and GGUF files.
struct ModelConversion {
  std::filesystem::path from, to;  // a folder, or a file that ends in ".gguf"
  std::string type = "bf16";       // f32, bf16 or f16; into a file also q8_0
  std::filesystem::path adapter;   // a PEFT folder to merge; empty: the folder "adapter" of `from`
  std::string dialect;             // writes the chat template that renders like it; empty: its own
};

struct ConvertedModel {
  ModelConfig config;
  std::string adapter;  // which one was merged; empty: none
};

// One tensor is in memory at a time, unless adapters are merged: then all are.
Result<ConvertedModel> ConvertModel(const ModelConversion& conversion);

}  // namespace hone
