#include "engine/weights/onnx_model.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace hone {
namespace {

constexpr std::string_view kWeight = ".weight", kQuantized = "_quantized";

// Where the numbers of a parameter are.
struct OnnxPlace {
  const OnnxTensor* tensor = nullptr;
  float scale = 1, zero = 0;
  bool transposed = false;
};

// "/model/layers.0/self_attn/q_proj/" for "model.layers.0.self_attn.q_proj.weight".
std::string ScopeOf(const std::string& parameter) {
  std::string scope = "/" + parameter.substr(0, parameter.size() - kWeight.size()) + "/";
  for (size_t i = 0; i + 1 < scope.size(); ++i) {
    const bool numbered = scope[i + 1] >= '0' && scope[i + 1] <= '9';
    if (scope[i] == '.' && !numbered) scope[i] = '/';
  }
  return scope;
}

// The one number of a tensor beside a quantised one.
Result<float> ScalarOf(const OnnxFile& file, const std::string& name) {
  const OnnxTensor* tensor = file.Find(name);
  if (tensor == nullptr || tensor->count() != 1 || tensor->type == OnnxType::kInt64) {
    return Error(ErrorCode::kUnsupported, fmt::format("tensor {}: one number is wanted", name));
  }
  float value = 0;
  tensor->CopyAsF32({&value, 1});
  return value;
}

// The tensor of this name, quantised or not; nothing where there is none.
Result<std::optional<OnnxPlace>> PlaceNamed(const OnnxFile& file, std::string name) {
  OnnxPlace place;
  if (name.ends_with(kQuantized)) name.resize(name.size() - kQuantized.size());
  place.tensor = file.Find(name);
  if (place.tensor == nullptr) {
    place.tensor = file.Find(name + std::string(kQuantized));
    if (place.tensor == nullptr) return std::optional<OnnxPlace>();
    HONE_ASSIGN_OR_RETURN(place.scale, ScalarOf(file, name + "_scale"));
    HONE_ASSIGN_OR_RETURN(place.zero, ScalarOf(file, name + "_zero_point"));
  }
  const OnnxType type = place.tensor->type;
  const bool whole = type == OnnxType::kInt8 || type == OnnxType::kUint8;
  const bool quantised = place.tensor != file.Find(name);
  if (type == OnnxType::kInt64 || whole != quantised) {
    return Error(ErrorCode::kUnsupported, fmt::format("tensor {}: numbers of its type are not "
                                                      "weights",
                                                      name));
  }
  return std::optional<OnnxPlace>(place);
}

// The weight that the product of this scope multiplies with; nothing where there is none.
Result<std::optional<OnnxPlace>> PlaceOfProduct(const OnnxFile& file, const std::string& scope) {
  for (const char* name : {"MatMul", "MatMul_quant"}) {
    const OnnxNode* node = file.FindNode(scope + name);
    if (node == nullptr || node->inputs.size() < 2) continue;
    HONE_ASSIGN_OR_RETURN(auto place, PlaceNamed(file, node->inputs[1]));
    if (place) place->transposed = true;
    return place;
  }
  return std::optional<OnnxPlace>();
}

Result<OnnxPlace> PlaceOfParameter(const OnnxFile& file, const Parameter& parameter) {
  HONE_ASSIGN_OR_RETURN(auto place, PlaceNamed(file, parameter.name));
  if (!place && parameter.name.ends_with(kWeight)) {
    HONE_ASSIGN_OR_RETURN(place, PlaceOfProduct(file, ScopeOf(parameter.name)));
  }
  if (!place) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("tensor {} is missing, and so is a product of that name", parameter.name));
  }
  return *place;
}

Result<void> CheckPlace(const OnnxPlace& place, const Parameter& parameter) {
  std::vector<int64_t> shape = parameter.shape;
  if (place.transposed) std::swap(shape.front(), shape.back());
  if (place.tensor->shape == shape) return {};
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("tensor {}: its shape is [{}], but config.json asks for [{}]", parameter.name,
                  fmt::join(place.tensor->shape, ", "), fmt::join(shape, ", ")));
}

Result<void> ReadPlace(const OnnxPlace& place, const Parameter& parameter,
                       std::vector<float>* out) {
  std::vector<float> stored(out->size());
  place.tensor->CopyAsF32(stored);
  const size_t rows = static_cast<size_t>(parameter.shape.front()), columns = out->size() / rows;
  for (size_t i = 0; i < out->size(); ++i) {
    const size_t from = place.transposed ? i % columns * rows + i / columns : i;
    (*out)[i] = place.scale * (stored[from] - place.zero);
    if (!std::isfinite((*out)[i])) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("tensor {}: holds a number that is not finite", parameter.name));
    }
  }
  return {};
}

// The head's own copy of a tied matrix.
Result<std::optional<OnnxPlace>> PlaceOfTwin(const OnnxFile& file, const ModelConfig& config,
                                             const std::string& name) {
  if (!config.tied_embeddings || name != "model.embed_tokens.weight") {
    return std::optional<OnnxPlace>();
  }
  return PlaceOfProduct(file, "/lm_head/");
}

Result<void> ReadOnnxParameter(const OnnxFile& file, const ModelConfig& config,
                               Parameter* parameter) {
  HONE_ASSIGN_OR_RETURN(const OnnxPlace place, PlaceOfParameter(file, *parameter));
  HONE_RETURN_IF_ERROR(ReadPlace(place, *parameter, &parameter->value));
  HONE_ASSIGN_OR_RETURN(const auto twin, PlaceOfTwin(file, config, parameter->name));
  if (!twin) return {};
  std::vector<float> other(parameter->value.size());
  HONE_RETURN_IF_ERROR(ReadPlace(*twin, *parameter, &other));
  for (size_t i = 0; i < other.size(); ++i) {
    parameter->value[i] = (parameter->value[i] + other[i]) / 2;
  }
  return {};
}

}  // namespace

Result<ParameterReader> ReaderOfOnnx(const OnnxFile& file, const ModelConfig& config) {
  for (const Parameter& parameter : ModelShape(config).parameters) {
    const auto check = [&]() -> Result<void> {
      HONE_ASSIGN_OR_RETURN(const OnnxPlace place, PlaceOfParameter(file, parameter));
      HONE_RETURN_IF_ERROR(CheckPlace(place, parameter));
      HONE_ASSIGN_OR_RETURN(const auto twin, PlaceOfTwin(file, config, parameter.name));
      return twin ? CheckPlace(*twin, parameter) : Result<void>();
    };
    if (Result<void> fit = check(); !fit.ok()) return fit.error().In(file.name());
  }
  return ParameterReader([&file, config](Parameter* parameter) -> Result<void> {
    Result<void> read = ReadOnnxParameter(file, config, parameter);
    return read.ok() ? read : read.error().In(file.name());
  });
}

}  // namespace hone
