#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model.h"

namespace hone {

// Low-rank adapters, in and out as PEFT folders (adapter_config.json, adapter_model.safetensors).

struct LoraOptions {
  int64_t rank = 16;
  double alpha = 32;  // the adapter's output is multiplied by alpha / rank
  // Names of projections, or "all".
  std::vector<std::string> targets = {"all"};
  uint64_t seed = 0;
};

// Adds adapters to every layer and freezes all other weights. B starts at zero, so that nothing
// changes yet. Unknown targets are an error that names them.
Result<void> AddLora(const LoraOptions& options, Model* model);

// The adapters of a PEFT folder, for a model without any. What would change the computation in ways
// that are not supported (DoRA, ranks per layer, trained biases) is an error.
Result<void> LoadLora(const std::filesystem::path& folder, Model* model);

// Where a checkpoint's adapters lie, in its folder.
inline constexpr char kAdapterFolder[] = "adapter";
// The model of a folder with the adapters that lie there, if there are any.
Result<Model> LoadModelWithAdapters(const std::filesystem::path& folder);

// A PEFT folder that other software loads on top of the base model `base`.
Result<void> SaveLora(const Model& model, const std::string& base,
                      const std::filesystem::path& folder);

// The numbers of a model's adapters: of every module in the model's order, A and then B.
using Adapters = std::vector<std::vector<float>>;
Adapters AdaptersOf(const Model& model);
// Those of a PEFT folder that SaveLora wrote of a model with the same adapters.
Result<Adapters> ReadAdapters(const std::filesystem::path& folder, const Model& model);
// Exchanges the model's for these.
void SwapAdapters(Adapters* adapters, Model* model);

// The adapters become part of the weights they adapt, which are trained again.
void MergeLora(Model* model);

}  // namespace hone
