#include "engine/model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/rng.h"
#include "engine/bfloat16.h"
#include "engine/safetensors.h"

namespace hone {
namespace {

constexpr float kInitialDeviation = 0.02f;

// As in Hugging Face's models for sequence classification.
constexpr char kScalarHeadName[] = "score.weight";

bool IsNorm(const Parameter& parameter) {
  return parameter.name.find("norm.weight") != std::string::npos;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<void> ReadParameter(const TensorView& view, Parameter* parameter) {
  if (view.dtype == DType::kI32 || view.dtype == DType::kI64) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {}: its type {} is not a floating one", parameter->name,
                             DTypeName(view.dtype)));
  }
  if (view.shape != parameter->shape) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {}: its shape is {}, but config.json asks for {}",
                             parameter->name, ShapeText(view.shape), ShapeText(parameter->shape)));
  }
  CopyAsF32(view, parameter->value);
  if (!std::all_of(parameter->value.begin(), parameter->value.end(),
                   [](float x) { return std::isfinite(x); })) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("tensor {}: holds a number that is not finite", parameter->name));
  }
  return {};
}

}  // namespace

Model NewModel(const ModelConfig& config) {
  Model model;
  model.config = config;
  auto add = [&](std::string name, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    Parameter parameter{std::move(name), std::move(shape), {}};
    parameter.value.assign(static_cast<size_t>(count), IsNorm(parameter) ? 1.0f : 0.0f);
    model.parameters.push_back(std::move(parameter));
    return static_cast<int>(model.parameters.size()) - 1;
  };
  const int64_t width = config.width, q = config.heads * config.head_dim,
                kv = config.kv_heads * config.head_dim;
  model.embedding = add("model.embed_tokens.weight", {config.vocab, width});
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string prefix = fmt::format("model.layers.{}.", i);
    LayerParameters layer;
    layer.input_norm = add(prefix + "input_layernorm.weight", {width});
    layer.q = add(prefix + "self_attn.q_proj.weight", {q, width});
    layer.k = add(prefix + "self_attn.k_proj.weight", {kv, width});
    layer.v = add(prefix + "self_attn.v_proj.weight", {kv, width});
    if (config.qkv_bias) {
      layer.q_bias = add(prefix + "self_attn.q_proj.bias", {q});
      layer.k_bias = add(prefix + "self_attn.k_proj.bias", {kv});
      layer.v_bias = add(prefix + "self_attn.v_proj.bias", {kv});
    }
    if (config.qk_norm) {
      layer.q_norm = add(prefix + "self_attn.q_norm.weight", {config.head_dim});
      layer.k_norm = add(prefix + "self_attn.k_norm.weight", {config.head_dim});
    }
    layer.output = add(prefix + "self_attn.o_proj.weight", {width, q});
    if (config.output_bias) layer.output_bias = add(prefix + "self_attn.o_proj.bias", {width});
    layer.post_norm = add(prefix + "post_attention_layernorm.weight", {width});
    layer.gate = add(prefix + "mlp.gate_proj.weight", {config.ffn, width});
    layer.up = add(prefix + "mlp.up_proj.weight", {config.ffn, width});
    layer.down = add(prefix + "mlp.down_proj.weight", {width, config.ffn});
    model.layers.push_back(layer);
  }
  model.final_norm = add("model.norm.weight", {width});
  model.head =
      config.tied_embeddings ? model.embedding : add("lm_head.weight", {config.vocab, width});
  if (config.scalar_head) model.scalar_head = add(kScalarHeadName, {1, width});
  return model;
}

void InitializeModel(uint64_t seed, Model* model) {
  const Rng root = Rng(seed).Split("model");
  for (Parameter& parameter : model->parameters) {
    if (IsNorm(parameter) || parameter.name.ends_with(".bias")) continue;
    Rng rng = root.Split(parameter.name);
    for (float& value : parameter.value) {
      value = kInitialDeviation * static_cast<float>(rng.NextNormal());
    }
  }
}

void MixNumbers(const std::vector<float>& others, double share, std::vector<float>* numbers) {
  CHECK(others.size() == numbers->size(), "numbers of another shape");
  const auto theirs = static_cast<float>(share), own = static_cast<float>(1 - share);
  for (size_t i = 0; i < others.size(); ++i) {
    (*numbers)[i] = share == 1 ? others[i] : own * (*numbers)[i] + theirs * others[i];
  }
}

void AddScalarHead(Model* model) {
  if (model->scalar_head >= 0) return;
  model->config.scalar_head = true;
  if (!model->config.source.is_null()) model->config.source.Set(kScalarHeadKey, true);
  // Adapters stay behind everything else, as in a model that is loaded with both.
  const int place =
      model->lora.empty() ? static_cast<int>(model->parameters.size()) : model->lora.front().a;
  model->scalar_head = place;
  model->parameters.insert(model->parameters.begin() + place,
                           {kScalarHeadName,
                            {1, model->config.width},
                            std::vector<float>(static_cast<size_t>(model->config.width), 0.0f)});
  for (LoraModule& module : model->lora) {
    ++module.a;
    ++module.b;
  }
}

Result<Model> LoadModel(const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(folder));
  HONE_ASSIGN_OR_RETURN(const CheckpointTensors tensors, CheckpointTensors::Open(folder));
  // The shapes come from the config; before memory is taken for them, the file must have as many
  // numbers.
  int64_t stored = 0;
  for (const auto& [name, view] : tensors.tensors()) stored += view.count();
  if (config.ParameterCount() > 2 * stored) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: config.json asks for {} parameters, the weights hold {}",
                             folder.string(), config.ParameterCount(), stored));
  }
  Model model = NewModel(config);
  std::set<std::string> used;
  for (Parameter& parameter : model.parameters) {
    const TensorView* view = tensors.Find(parameter.name);
    if (view == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: tensor {} is missing", folder.string(), parameter.name));
    }
    if (Result<void> read = ReadParameter(*view, &parameter); !read.ok()) {
      return read.error().In(folder.string());
    }
    used.insert(parameter.name);
  }
  for (const auto& [name, view] : tensors.tensors()) {
    const bool tied_head = config.tied_embeddings && name == "lm_head.weight";
    if (tied_head) {
      // Some files have the embedding twice; a head of its own would be lost.
      const auto embedding = static_cast<size_t>(model.embedding);
      const TensorView& twin = *tensors.Find(model.parameters[embedding].name);
      if (view.dtype != twin.dtype || view.shape != twin.shape ||
          !std::equal(view.bytes.begin(), view.bytes.end(), twin.bytes.begin(), twin.bytes.end())) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: config.json has tie_word_embeddings, but lm_head.weight is "
                                 "not the embedding; set tie_word_embeddings to false",
                                 folder.string()));
      }
    }
    if (!used.contains(name) && !tied_head && !name.ends_with("rotary_emb.inv_freq")) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: tensor {} belongs to no part of this architecture",
                               folder.string(), name));
    }
  }
  return model;
}

Result<void> SaveModel(const Model& model, SaveType type, const std::filesystem::path& folder) {
  std::vector<std::vector<Bf16>> halves(model.parameters.size());
  std::map<std::string, TensorView> tensors;
  std::set<int> adapters;
  for (const LoraModule& module : model.lora) adapters.insert({module.a, module.b});
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    if (adapters.contains(static_cast<int>(i))) continue;
    const Parameter& parameter = model.parameters[i];
    TensorView view{DType::kF32, parameter.shape, std::as_bytes(std::span(parameter.value))};
    if (type == SaveType::kBf16) {
      halves[i].reserve(parameter.value.size());
      for (const float value : parameter.value) halves[i].push_back(Bf16OfFloat(value));
      view = {DType::kBF16, parameter.shape, std::as_bytes(std::span(halves[i]))};
    }
    tensors.emplace(parameter.name, view);
  }
  Json config = ModelConfigToJson(model.config);
  const char* name = type == SaveType::kBf16 ? "bfloat16" : "float32";
  config.Set(config.Find("torch_dtype") != nullptr ? "torch_dtype" : "dtype", name);
  HONE_RETURN_IF_ERROR(WriteSafetensors(folder / "model.safetensors", tensors, {{"format", "pt"}}));
  return WriteFileAtomic(folder / "config.json", DumpJson(config, JsonStyle::kPretty) + "\n");
}

}  // namespace hone
