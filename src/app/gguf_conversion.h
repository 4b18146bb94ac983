#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/model.h"
#include "engine/weights/gguf.h"
#include "text/gguf/gguf_tokenizer.h"

namespace hone {

// Between GGUF files and Hugging Face folders: what belongs to a model besides its weights.

// By its name: a file that ends in ".gguf".
bool IsGgufName(const std::filesystem::path& path);

// Whether `hone model convert` can go from one to the other in this type.
Result<void> CheckConversion(const std::filesystem::path& from, const std::filesystem::path& to,
                             const std::string& type);

// The type of a folder in which the matrices of a GGUF file lose nothing that they have: f32, bf16
// or f16.
Result<std::string> KeepingTypeOf(const std::filesystem::path& file);

// The type of a file's matrices by the name that --type has for it: f32, f16, bf16 or q8_0 (CHECK).
GgmlType GgmlTypeNamed(const std::string& type);

// The same of a folder's weights: f32, f16 or bf16 (CHECK).
SaveType SaveTypeNamed(const std::string& type);

// What the file says about its tokenizer and templates. Nothing is checked yet; `model` is empty
// where the file has none.
GgufTokenizer ReadGgufTokenizer(const GgufFile& file);

// tokenizer.json and tokenizer_config.json, with the chat template; none where the file has no
// tokenizer. By file name.
Result<std::vector<std::pair<std::string, std::string>>> TokenizerFilesOf(const GgufFile& file);

// The keys of a folder's tokenizer and template for a GGUF file of this model; none where the
// folder has no tokenizer. `chat_template` takes the place of the folder's own; empty: that one.
Result<GgufMetadata> TokenizerMetadataOf(const std::filesystem::path& folder,
                                         const ModelConfig& config,
                                         const std::string& chat_template);

// What there is to say of a file besides the model's shape: its version, the types of its numbers,
// its tokenizer.
Json GgufFacts(const GgufFile& file);

}  // namespace hone
