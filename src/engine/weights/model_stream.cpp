#include "engine/weights/model_stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "engine/bfloat16.h"
#include "engine/safetensors.h"
#include "engine/weights/stored_tensors.h"

namespace hone {
namespace {

std::string StoredShapeText(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<void> CheckStored(const TensorView& view, const StoredTensor& tensor) {
  if (view.dtype == DType::kI32 || view.dtype == DType::kI64) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {}: its type {} is not a floating one", tensor.name,
                             DTypeName(view.dtype)));
  }
  if (view.shape != tensor.shape) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {}: its shape is {}, but config.json asks for {}", tensor.name,
                             StoredShapeText(view.shape), StoredShapeText(tensor.shape)));
  }
  return {};
}

// Some files have the embedding twice; a head of its own would be lost.
Result<void> CheckTiedHead(const TensorView& head, const TensorView& embedding) {
  if (head.dtype == embedding.dtype && head.shape == embedding.shape &&
      std::equal(head.bytes.begin(), head.bytes.end(), embedding.bytes.begin(),
                 embedding.bytes.end())) {
    return {};
  }
  return Error(ErrorCode::kInvalidArgument,
               "config.json has tie_word_embeddings, but lm_head.weight is not the embedding; set "
               "tie_word_embeddings to false");
}

// Whether the tensors are those of this model.
Result<void> CheckTensors(const CheckpointTensors& tensors, const Model& shape) {
  std::set<std::string> used;
  for (const StoredTensor& tensor : StoredTensorsOf(shape)) {
    const TensorView* view = tensors.Find(tensor.name);
    if (view == nullptr) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("tensor {} is missing", tensor.name));
    }
    HONE_RETURN_IF_ERROR(CheckStored(*view, tensor));
    used.insert(tensor.name);
  }
  for (const auto& [name, view] : tensors.tensors()) {
    const bool tied_head = shape.config.tied_embeddings && name == "lm_head.weight";
    if (tied_head) {
      const auto embedding = static_cast<size_t>(shape.embedding);
      HONE_RETURN_IF_ERROR(CheckTiedHead(view, *tensors.Find(shape.parameters[embedding].name)));
    }
    if (!used.contains(name) && !tied_head && !name.ends_with("rotary_emb.inv_freq")) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("tensor {} belongs to no part of this architecture", name));
    }
  }
  return {};
}

// Numbers of a parameter as they lie in a file.
template <typename Number, typename Convert>
std::vector<std::byte> Converted(const std::vector<float>& values, Convert convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(Number));
  for (size_t i = 0; i < values.size(); ++i) {
    const Number number = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Number), &number, sizeof(Number));
  }
  return bytes;
}

Result<std::vector<std::byte>> BytesOf(const std::vector<float>& values, SaveType type) {
  if (type == SaveType::kF32) return Converted<float>(values, [](float x) { return x; });
  if (type == SaveType::kBf16) return Converted<Bf16>(values, Bf16OfFloat);
  constexpr float kLargest = 65504;
  for (const float value : values) {
    if (!(std::fabs(value) <= kLargest)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} is too large for F16; choose another --type", value));
    }
  }
  return Converted<uint16_t>(values, F16OfFloat);
}

Result<void> SaveParameters(const ModelConfig& config,
                            const std::map<std::string, SafetensorsSource>& tensors, SaveType type,
                            const std::filesystem::path& folder) {
  Json json = ModelConfigToJson(config);
  const char* name = type == SaveType::kF32    ? "float32"
                     : type == SaveType::kBf16 ? "bfloat16"
                                               : "float16";
  json.Set(json.Find("torch_dtype") != nullptr ? "torch_dtype" : "dtype", name);
  HONE_RETURN_IF_ERROR(WriteSafetensors(folder / "model.safetensors", tensors, {{"format", "pt"}}));
  return WriteFileAtomic(folder / "config.json", DumpJson(json, JsonStyle::kPretty) + "\n");
}

DType StoredType(SaveType type) {
  return type == SaveType::kF32    ? DType::kF32
         : type == SaveType::kBf16 ? DType::kBF16
                                   : DType::kF16;
}

// How many numbers a tensor has from the first to the last of a part.
size_t SpannedBy(const StoredPart& part, const Parameter& parameter) {
  const int64_t columns = parameter.shape.size() > 1 ? parameter.shape[1] : 1;
  return static_cast<size_t>((parameter.shape[0] - 1) * part.row_step +
                             (columns - 1) * part.column_step + 1);
}

// Where a folder's tensors hold the parameters of a model.
class FolderReader {
 public:
  FolderReader(CheckpointTensors tensors, const ModelConfig& config, std::string folder)
      : tensors_(std::move(tensors)), folder_(std::move(folder)) {
    const Model shape = ModelShape(config);
    stored_ = StoredTensorsOf(shape);
    for (size_t t = 0; t < stored_.size(); ++t) {
      for (const StoredPart& part : stored_[t].parts) {
        places_[shape.parameters[static_cast<size_t>(part.parameter)].name] = {t, part};
      }
    }
  }

  Result<void> Read(Parameter* parameter) {
    const auto& [index, part] = places_.at(parameter->name);
    const StoredTensor& tensor = stored_[index];
    const TensorView& view = *tensors_.Find(tensor.name);
    std::vector<float>& values = parameter->value;
    values.resize(static_cast<size_t>(parameter->count()));
    if (tensor.plain()) {
      CopyAsF32(view, values);
    } else {
      // Of a tensor of many experts, no more is converted than what lies about this one.
      const auto first = static_cast<size_t>(part.offset);
      const size_t size = DTypeSize(view.dtype);
      std::vector<float> numbers(SpannedBy(part, *parameter));
      CopyAsF32({.dtype = view.dtype,
                 .shape = {std::ssize(numbers)},
                 .bytes = view.bytes.subspan(first * size, numbers.size() * size)},
                numbers);
      ForStored(part, *parameter, [&](size_t at, size_t i) { values[i] = numbers[at - first]; });
    }
    if (std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
      return {};
    }
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("{}: tensor {}: holds a number that is not finite", folder_, tensor.name));
  }

 private:
  struct Place {
    size_t tensor;
    StoredPart part;
  };
  CheckpointTensors tensors_;
  std::string folder_;
  std::vector<StoredTensor> stored_;
  std::map<std::string, Place> places_;
};

}  // namespace

Result<ParameterReader> ReaderOfFolder(const std::filesystem::path& folder,
                                       const ModelConfig& config) {
  HONE_ASSIGN_OR_RETURN(CheckpointTensors opened, CheckpointTensors::Open(folder));
  // The shapes come from the config; before memory is taken for them, the file must have as many
  // numbers.
  int64_t stored = 0;
  for (const auto& [name, view] : opened.tensors()) stored += view.count();
  if (config.ParameterCount() > 2 * stored) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: config.json asks for {} parameters, the weights hold {}",
                             folder.string(), config.ParameterCount(), stored));
  }
  if (Result<void> fit = CheckTensors(opened, ModelShape(config)); !fit.ok()) {
    return fit.error().In(folder.string());
  }
  const auto reader = std::make_shared<FolderReader>(std::move(opened), config, folder.string());
  return ParameterReader([reader](Parameter* parameter) { return reader->Read(parameter); });
}

Result<Model> ReadModel(const ModelConfig& config, const ParameterReader& reader) {
  Model model = NewModel(config);
  for (Parameter& parameter : model.parameters) HONE_RETURN_IF_ERROR(reader(&parameter));
  return model;
}

Result<void> SaveModelFrom(const ModelConfig& config, const ParameterReader& reader, SaveType type,
                           const std::filesystem::path& folder) {
  const Model shape = ModelShape(config);
  std::map<std::string, SafetensorsSource> tensors;
  for (const StoredTensor& tensor : StoredTensorsOf(shape)) {
    tensors[tensor.name] = {
        StoredType(type), tensor.shape, [&, tensor]() -> Result<std::vector<std::byte>> {
          std::vector<float> all(static_cast<size_t>(tensor.count()));
          for (const StoredPart& part : tensor.parts) {
            Parameter one = shape.parameters[static_cast<size_t>(part.parameter)];
            one.value.resize(static_cast<size_t>(one.count()));
            HONE_RETURN_IF_ERROR(reader(&one));
            ForStored(part, one, [&](size_t at, size_t i) { all[at] = one.value[i]; });
          }
          return BytesOf(all, type);
        }};
  }
  return SaveParameters(config, tensors, type, folder);
}

Result<void> SaveModel(const Model& model, SaveType type, const std::filesystem::path& folder) {
  auto values = [&](int parameter) -> const std::vector<float>& {
    return model.parameters[static_cast<size_t>(parameter)].value;
  };
  std::map<std::string, SafetensorsSource> tensors;
  for (const StoredTensor& tensor : StoredTensorsOf(model)) {
    tensors[tensor.name] = {StoredType(type), tensor.shape, [&, tensor] {
                              if (tensor.plain()) {
                                return BytesOf(values(tensor.parts[0].parameter), type);
                              }
                              return BytesOf(GatherStored(tensor, model, values), type);
                            }};
  }
  return SaveParameters(model.config, tensors, type, folder);
}

}  // namespace hone
