#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/models/model_get.h"
#include "base/json.h"

namespace hone {

// Whether a name means a mirror: a folder or a .gguf file at an address or on this machine.
bool IsMirrorName(const std::string& name);

// "Qwen" for "https://host/models/Qwen/" and for "models/Qwen.gguf".
std::string NameOnMirror(const std::string& name);

// What a mirror's list SHA256SUMS says of a model.
struct MirroredModel {
  std::string place;  // the folder of the list
  bool gguf = false;  // one GGUF file, to be converted; else a Hugging Face folder as it is
  std::vector<std::pair<std::string, std::string>> files;  // the model's, with their hashes
};

// Reads the list of the folder that options.name leads to, or of the one that its GGUF file lies
// in.
Result<MirroredModel> FindMirroredModel(const ModelGetOptions& options);

// What tells two models of mirrors apart: where they come from, their files' hashes, and --type.
Json MirroredOrigin(const MirroredModel& model, const ModelGetOptions& options);

// Fills a folder with the files, each checked. What lies in the folder already with the right hash
// is not fetched again.
Result<void> MakeMirroredModel(const MirroredModel& model, const ModelGetOptions& options,
                               const std::filesystem::path& folder);

}  // namespace hone
