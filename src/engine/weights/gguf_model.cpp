#include "engine/weights/gguf_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "engine/weights/gguf_names.h"

namespace hone {
namespace {

// ggml's numbers for what most of a file's weights are.
uint32_t FileTypeOf(GgmlType type) {
  switch (type) {
    case GgmlType::kF32: return 0;
    case GgmlType::kQ8_0: return 7;
    case GgmlType::kBF16: return 32;
    default: return 1;  // F16
  }
}

// Its name in the file.
std::string StoredName(const Parameter& parameter) {
  return GgufTensorName(parameter.name).value_or(parameter.name);
}

Result<void> CheckGgufParameter(const GgufTensor& tensor, const Parameter& parameter) {
  const GgmlTypeLayout& layout = *tensor.layout;
  if (layout.decode == nullptr) {
    return Error(ErrorCode::kUnsupported, fmt::format("its type {} is not read", layout.name));
  }
  if (tensor.shape != parameter.shape) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("its shape is [{}], but the file's keys ask for [{}]",
                             fmt::join(tensor.shape, ", "), fmt::join(parameter.shape, ", ")));
  }
  return {};
}

Result<void> ReadGgufParameter(const GgufTensor& tensor, const ModelConfig& config,
                               Parameter* parameter) {
  const GgmlTypeLayout& layout = *tensor.layout;
  // A vector is a column where its elements move: the bias of queries and keys.
  const bool reordered = RowsAreReordered(config.family, parameter->name);
  if (reordered && parameter->shape.size() == 1) {
    std::vector<float> stored(parameter->value.size());
    Dequantise(layout, tensor.bytes, stored);
    for (size_t i = 0; i < stored.size(); ++i) {
      parameter->value[i] = stored[StoredRow(static_cast<int64_t>(i), config.head_dim)];
    }
  } else if (reordered) {
    const auto rows = static_cast<size_t>(parameter->shape[0]);
    const size_t columns = parameter->value.size() / rows, bytes = tensor.bytes.size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      const auto stored =
          static_cast<size_t>(StoredRow(static_cast<int64_t>(row), config.head_dim));
      Dequantise(layout, tensor.bytes.subspan(stored * bytes, bytes),
                 std::span(parameter->value).subspan(row * columns, columns));
    }
  } else {
    Dequantise(layout, tensor.bytes, parameter->value);
  }
  if (!std::all_of(parameter->value.begin(), parameter->value.end(),
                   [](float x) { return std::isfinite(x); })) {
    return Error(ErrorCode::kCorrupt, "holds a number that is not finite");
  }
  return {};
}

Result<std::vector<std::byte>> BlocksOf(const Parameter& parameter, const ModelConfig& config,
                                        GgmlType type) {
  const float largest = LargestOf(type);
  for (const float value : parameter.value) {
    if (!(std::fabs(value) <= largest)) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is too large for {}; choose another --type", value, LayoutOf(type).name));
    }
  }
  if (!RowsAreReordered(config.family, parameter.name)) return Quantise(type, parameter.value);
  const size_t rows = static_cast<size_t>(parameter.shape[0]),
               columns = parameter.value.size() / rows;
  std::vector<float> stored(parameter.value.size());
  for (size_t row = 0; row < rows; ++row) {
    const int64_t to = StoredRow(static_cast<int64_t>(row), config.head_dim);
    std::copy_n(parameter.value.begin() + static_cast<int64_t>(row * columns), columns,
                stored.begin() + to * static_cast<int64_t>(columns));
  }
  return Quantise(type, stored);
}

// The type of a matrix or vector in a file whose matrices are of `wanted`.
GgmlType TypeFor(const Parameter& parameter, GgmlType wanted) {
  if (parameter.shape.size() < 2) return GgmlType::kF32;
  return parameter.shape.back() % LayoutOf(wanted).block == 0 ? wanted : GgmlType::kF16;
}

GgufMetadata MetadataOf(const ModelConfig& config, GgmlType type) {
  const std::string name(ArchitectureName(config.family));
  const auto size = [](int64_t value) { return GgufValue(static_cast<uint32_t>(value)); };
  GgufMetadata metadata = {
      {"general.architecture", name},
      {"general.file_type", FileTypeOf(type)},
      {"general.quantization_version", uint32_t{2}},
      {name + ".block_count", size(config.layers)},
      {name + ".context_length", size(config.max_positions)},
      {name + ".embedding_length", size(config.width)},
      {name + ".feed_forward_length", size(config.ffn)},
      {name + ".attention.head_count", size(config.heads)},
      {name + ".attention.head_count_kv", size(config.kv_heads)},
      {name + ".attention.key_length", size(config.head_dim)},
      {name + ".attention.value_length", size(config.head_dim)},
      {name + ".attention.layer_norm_rms_epsilon", static_cast<float>(config.norm_eps)},
      {name + ".rope.dimension_count", size(config.head_dim)},
      {name + ".rope.freq_base", static_cast<float>(config.rope_theta)},
      {name + ".vocab_size", size(config.vocab)}};
  if (const auto& scaling = config.rope_scaling) {
    metadata.emplace_back(kRopeFactorKey, scaling->factor);
    metadata.emplace_back(kRopeLowKey, scaling->low_freq_factor);
    metadata.emplace_back(kRopeHighKey, scaling->high_freq_factor);
    metadata.emplace_back(kRopePositionsKey, scaling->original_positions);
  }
  return metadata;
}

Result<void> CheckWritable(const ModelConfig& config) {
  using Family = ModelConfig::Family;
  const bool llama = config.family == Family::kLlama;
  if (!llama && config.family != Family::kQwen2 && config.family != Family::kQwen3) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("GGUF files are written for llama, qwen2 and qwen3, not for {}; "
                             "hone export writes a folder that transformers loads",
                             ArchitectureName(config.family)));
  }
  if (!config.traits.empty()) {
    return Error(ErrorCode::kUnsupported, "GGUF files with windows of attention are not written");
  }
  if (config.rope_scaling && config.rope_scaling->kind != RopeScaling::Kind::kLlama3) {
    return Error(ErrorCode::kUnsupported,
                 "GGUF files are written with Llama 3's way to stretch positions only");
  }
  if (config.output_bias && !llama) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("GGUF's {} has no bias of the attention's output (attention_bias)",
                             ArchitectureName(config.family)));
  }
  if (config.rope_scaling && !llama) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("GGUF's {} has no place for Llama 3's rope_scaling",
                             ArchitectureName(config.family)));
  }
  return {};
}

Result<void> WriteGgufTensors(const ModelConfig& config, GgmlType type, const GgufMetadata& more,
                              std::vector<GgufTensorSource> tensors,
                              const std::filesystem::path& path) {
  HONE_RETURN_IF_ERROR(CheckWritable(config));
  GgufMetadata metadata = MetadataOf(config, type);
  metadata.insert(metadata.end(), more.begin(), more.end());
  if (config.rope_scaling) {
    tensors.push_back({kRopeDivisorsName, GgmlType::kF32, {config.head_dim / 2}, [&] {
                         return Result<std::vector<std::byte>>(
                             Quantise(GgmlType::kF32, RopeDivisors(config)));
                       }});
  }
  return WriteGguf(path, metadata, tensors);
}

}  // namespace

Result<ParameterReader> ReaderOfGguf(const GgufFile& file, const ModelConfig& config) {
  // The shapes come from the keys; before memory is taken for them, the file must have as many
  // numbers.
  int64_t stored = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    if (__builtin_add_overflow(stored, tensor.count(), &stored)) break;
  }
  if (config.ParameterCount() > stored) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: its keys ask for {} parameters, its tensors hold {}", file.name(),
                             config.ParameterCount(), stored));
  }
  std::set<std::string> used = {kRopeDivisorsName};
  for (const Parameter& parameter : ModelShape(config).parameters) {
    const std::string name = StoredName(parameter);
    const GgufTensor* tensor = file.FindTensor(name);
    if (tensor == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: tensor {} is missing", file.name(), name));
    }
    if (Result<void> fit = CheckGgufParameter(*tensor, parameter); !fit.ok()) {
      return fit.error().In(fmt::format("{}: tensor {}", file.name(), name));
    }
    used.insert(name);
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (used.contains(name)) continue;
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("{}: tensor {} belongs to no part of this architecture", file.name(), name));
  }
  return ParameterReader([&file, config](Parameter* parameter) -> Result<void> {
    const std::string name = StoredName(*parameter);
    Result<void> read = ReadGgufParameter(*file.FindTensor(name), config, parameter);
    if (!read.ok()) return read.error().In(fmt::format("{}: tensor {}", file.name(), name));
    return {};
  });
}

Result<Model> LoadGgufModel(const GgufFile& file) {
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfigOfGguf(file));
  HONE_ASSIGN_OR_RETURN(const ParameterReader reader, ReaderOfGguf(file, config));
  return ReadModel(config, reader);
}

Result<void> WriteGgufModel(const Model& model, GgmlType type, const GgufMetadata& more,
                            const std::filesystem::path& path) {
  std::vector<GgufTensorSource> tensors;
  for (const Parameter& parameter : model.parameters) {
    const auto name = GgufTensorName(parameter.name);
    if (!name) continue;  // a scalar head, an adapter
    const GgmlType own = TypeFor(parameter, type);
    tensors.push_back(
        {*name, own, parameter.shape, [&, own] { return BlocksOf(parameter, model.config, own); }});
  }
  return WriteGgufTensors(model.config, type, more, std::move(tensors), path);
}

Result<void> WriteGgufModelFrom(const ModelConfig& config, const ParameterReader& reader,
                                const GgufWriteOptions& options,
                                const std::filesystem::path& path) {
  std::vector<GgufTensorSource> tensors;
  for (const Parameter& shape : ModelShape(config).parameters) {
    const auto name = GgufTensorName(shape.name);
    if (!name) continue;  // a scalar head
    const GgmlType own = TypeFor(shape, options.type);
    tensors.push_back(
        {*name, own, shape.shape, [&, shape, own]() -> Result<std::vector<std::byte>> {
           Parameter parameter = shape;
           parameter.value.resize(static_cast<size_t>(parameter.count()));
           HONE_RETURN_IF_ERROR(reader(&parameter));
           return BlocksOf(parameter, config, own);
         }});
  }
  return WriteGgufTensors(config, options.type, options.more, std::move(tensors), path);
}

}  // namespace hone
