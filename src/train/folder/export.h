#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/model.h"
#include "train/folder/model_place.h"

namespace hone {

struct ExportOptions {
  std::string dialect;  // empty: that of the run or of the model's own template
  SaveType type = SaveType::kBf16;
  bool adapter = false;  // the adapters alone, in PEFT's layout; else they are merged
};

struct ExportReport {
  std::vector<std::string> files;  // that were written
  std::string dialect;
  std::vector<std::string> stops;  // at which a turn ends
  int64_t parameters = 0;
  std::string base;  // of adapters: the model that they belong to

  Json ToJson() const;
};

// A model as other programs want it: safetensors with the adapters merged in, config.json,
// tokenizer, chat template, and the tokens at which generation ends in every place where somebody
// looks for them. What was written is loaded again and compared: weights to the bit, the text of a
// conversation, and its tokens. `out` must not be there, or be empty: it is put in its place whole.
Result<ExportReport> ExportModel(const ModelPlace& place, const std::filesystem::path& out,
                                 const ExportOptions& options);

}  // namespace hone
