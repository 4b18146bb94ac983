#pragma once

#include "app/models/model_get.h"

namespace hone {

// Whether a name means a mirror: a folder or a .gguf file at an address or on this machine.
bool IsMirrorName(const std::string& name);

// "Qwen" for "https://host/models/Qwen/" and for "models/Qwen.gguf".
std::string NameOnMirror(const std::string& name);

// Fills a folder with what a mirror has: the Hugging Face folder that options.name leads to, or the
// GGUF file, converted. The list SHA256SUMS beside it says which files there are; each is checked.
// What lies in the folder already with the right hash is not fetched again.
Result<void> MakeMirroredModel(const ModelGetOptions& options, const std::filesystem::path& folder);

}  // namespace hone
