#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "engine/model.h"
#include "engine/weights/gguf.h"
#include "engine/weights/model_stream.h"

namespace hone {

// Models in GGUF files: the architectures llama, qwen2 and qwen3. Names, shapes and the order of
// rows become Hugging Face's; llama's files have the rows of queries and keys in another order.

// The shape of the model in a file, as its config.json would have it. A key of the architecture
// that is not understood, or that changes the computation in a way that Hone does not know, is
// kUnsupported. The error names the file and the key.
Result<ModelConfig> ModelConfigOfGguf(const GgufFile& file);

// The parameters of the model in a file, which must outlive the reader. A tensor that is missing,
// left over, of the wrong shape, of a type without a decoder, or not finite is an error that names
// it.
Result<ParameterReader> ReaderOfGguf(const GgufFile& file, const ModelConfig& config);

// The whole model, in float32.
Result<Model> LoadGgufModel(const GgufFile& file);

// Writes a model with the keys of its architecture, and `more` behind them (the tokenizer).
// Matrices are of `type` (kF32, kF16, kBF16 or kQ8_0), those whose rows do not fill its blocks of
// kF16, and vectors of kF32. Adapters and a scalar head are not written. A number that the type
// cannot hold is an error that names the tensor.
Result<void> WriteGgufModel(const Model& model, GgmlType type, const GgufMetadata& more,
                            const std::filesystem::path& path);

struct GgufWriteOptions {
  GgmlType type = GgmlType::kF16;  // of matrices
  GgufMetadata more;               // behind the architecture's keys
};

// The same file, with one parameter in memory at a time.
Result<void> WriteGgufModelFrom(const ModelConfig& config, const ParameterReader& reader,
                                const GgufWriteOptions& options, const std::filesystem::path& path);

// "qwen3", as in general.architecture and in config.json.
std::string_view ArchitectureName(ModelConfig::Family family);

}  // namespace hone
