#include "engine/encoder/encoder_weights.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/safetensors.h"

namespace hone {
namespace {

// A tensor by its name without "bert.", and where its numbers go.
struct EncoderTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float>* values;
};

void AddLinear(const std::string& name, int64_t outputs, int64_t inputs, EncoderLinear* linear,
               std::vector<EncoderTensor>* tensors) {
  tensors->push_back({name + ".weight", {outputs, inputs}, &linear->weight});
  tensors->push_back({name + ".bias", {outputs}, &linear->bias});
}

// All tensors of these weights, whose layers are as many as the config says.
std::vector<EncoderTensor> TensorsOf(EncoderWeights* weights) {
  const EncoderShape& c = weights->shape;
  std::vector<EncoderTensor> tensors = {
      {"embeddings.word_embeddings.weight", {c.vocab, c.width}, &weights->words},
      {"embeddings.position_embeddings.weight", {c.max_positions, c.width}, &weights->positions},
      {"embeddings.token_type_embeddings.weight", {c.token_types, c.width}, &weights->token_types}};
  const auto add_norm = [&](const std::string& name, EncoderNorm* norm) {
    tensors.push_back({name + ".LayerNorm.weight", {c.width}, &norm->weight});
    tensors.push_back({name + ".LayerNorm.bias", {c.width}, &norm->bias});
  };
  add_norm("embeddings", &weights->norm);
  for (size_t i = 0; i < weights->layers.size(); ++i) {
    EncoderLayerWeights& layer = weights->layers[i];
    const std::string at = fmt::format("encoder.layer.{}.", i);
    AddLinear(at + "attention.self.query", c.width, c.width, &layer.query, &tensors);
    AddLinear(at + "attention.self.key", c.width, c.width, &layer.key, &tensors);
    AddLinear(at + "attention.self.value", c.width, c.width, &layer.value, &tensors);
    AddLinear(at + "attention.output.dense", c.width, c.width, &layer.attended, &tensors);
    add_norm(at + "attention.output", &layer.attention_norm);
    AddLinear(at + "intermediate.dense", c.ffn, c.width, &layer.inner, &tensors);
    AddLinear(at + "output.dense", c.width, c.ffn, &layer.outer, &tensors);
    add_norm(at + "output", &layer.output_norm);
  }
  return tensors;
}

Result<void> ReadEncoderTensor(const TensorView& view, const EncoderTensor& tensor) {
  if (view.dtype == DType::kI32 || view.dtype == DType::kI64) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {}: its type {} is not a floating one", tensor.name,
                             DTypeName(view.dtype)));
  }
  if (view.shape != tensor.shape) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("tensor {}: its shape is [{}], but config.json asks for [{}]", tensor.name,
                    fmt::join(view.shape, ", "), fmt::join(tensor.shape, ", ")));
  }
  tensor.values->resize(static_cast<size_t>(view.count()));
  CopyAsF32(view, *tensor.values);
  if (!std::all_of(tensor.values->begin(), tensor.values->end(),
                   [](float x) { return std::isfinite(x); })) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("tensor {}: holds a number that is not finite", tensor.name));
  }
  return {};
}

// What encoders are stored with and no vector needs.
bool IsOtherHead(std::string_view name) {
  return name.starts_with("pooler.") || name.starts_with("cls.") ||
         name == "embeddings.position_ids";
}

}  // namespace

Result<EncoderWeights> LoadEncoderWeights(const std::filesystem::path& folder) {
  EncoderWeights weights;
  HONE_ASSIGN_OR_RETURN(weights.shape, LoadEncoderShape(folder));
  HONE_ASSIGN_OR_RETURN(const CheckpointTensors stored, CheckpointTensors::Open(folder));
  const std::string prefix =
      stored.Find("bert.embeddings.word_embeddings.weight") != nullptr ? "bert." : "";
  weights.layers.resize(static_cast<size_t>(weights.shape.layers));
  std::set<std::string> used;
  for (EncoderTensor& tensor : TensorsOf(&weights)) {
    tensor.name = prefix + tensor.name;
    const TensorView* view = stored.Find(tensor.name);
    if (view == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: tensor {} is missing", folder.string(), tensor.name));
    }
    if (const auto read = ReadEncoderTensor(*view, tensor); !read.ok()) {
      return read.error().In(folder.string());
    }
    used.insert(tensor.name);
  }
  for (const auto& [name, view] : stored.tensors()) {
    const std::string_view bare =
        std::string_view(name).substr(name.starts_with(prefix) ? prefix.size() : 0);
    if (used.contains(name) || IsOtherHead(bare)) continue;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: tensor {} belongs to no part of this architecture",
                             folder.string(), name));
  }
  return weights;
}

}  // namespace hone
