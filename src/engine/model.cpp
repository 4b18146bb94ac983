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
#include "engine/weights/stored_tensors.h"

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

Result<void> ReadStored(const TensorView& view, const StoredTensor& tensor, Model* model) {
  if (view.dtype == DType::kI32 || view.dtype == DType::kI64) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {}: its type {} is not a floating one", tensor.name,
                             DTypeName(view.dtype)));
  }
  if (view.shape != tensor.shape) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("tensor {}: its shape is {}, but config.json asks for {}", tensor.name,
                             ShapeText(view.shape), ShapeText(tensor.shape)));
  }
  auto values = [&](int parameter) -> std::vector<float>& {
    return model->parameters[static_cast<size_t>(parameter)].value;
  };
  std::vector<float> joined(tensor.plain() ? 0 : static_cast<size_t>(tensor.count()));
  std::vector<float>& all = tensor.plain() ? values(tensor.parts[0].parameter) : joined;
  CopyAsF32(view, all);
  if (!std::all_of(all.begin(), all.end(), [](float x) { return std::isfinite(x); })) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("tensor {}: holds a number that is not finite", tensor.name));
  }
  if (!tensor.plain()) ScatterStored(tensor, *model, joined, values);
  return {};
}

// Adds the parameters of a model one after the other.
class ModelMaker {
 public:
  explicit ModelMaker(Model* model) : model_(model), c_(model->config) {}

  int Add(std::string name, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    Parameter parameter{std::move(name), std::move(shape), {}};
    const bool one = IsNorm(parameter) && !c_.norm_adds_one;
    parameter.value.assign(static_cast<size_t>(count), one ? 1.0f : 0.0f);
    model_->parameters.push_back(std::move(parameter));
    return static_cast<int>(model_->parameters.size()) - 1;
  }

  void AddLayer(int64_t index) {
    prefix_ = fmt::format("model.layers.{}.", index);
    LayerParameters layer;
    AddAttention(&layer);
    // With output norms, Hugging Face's "post_attention_layernorm" is the norm behind attention.
    if (c_.output_norms) {
      layer.attention_norm = AddOfLayer("post_attention_layernorm.weight", {c_.width});
      layer.post_norm = AddOfLayer("pre_feedforward_layernorm.weight", {c_.width});
    } else {
      layer.post_norm = AddOfLayer("post_attention_layernorm.weight", {c_.width});
    }
    if (c_.TraitsOf(index).experts) {
      AddExperts(&layer);
    } else {
      layer.gate = AddOfLayer("mlp.gate_proj.weight", {c_.ffn, c_.width});
      layer.up = AddOfLayer("mlp.up_proj.weight", {c_.ffn, c_.width});
      layer.down = AddOfLayer("mlp.down_proj.weight", {c_.width, c_.ffn});
    }
    if (c_.output_norms) {
      layer.forward_norm = AddOfLayer("post_feedforward_layernorm.weight", {c_.width});
    }
    model_->layers.push_back(layer);
  }

 private:
  int AddOfLayer(const std::string& name, std::vector<int64_t> shape) {
    return Add(prefix_ + name, std::move(shape));
  }

  void AddAttention(LayerParameters* layer) {
    const int64_t width = c_.width, q = c_.heads * c_.head_dim, kv = c_.kv_heads * c_.head_dim;
    layer->input_norm = AddOfLayer("input_layernorm.weight", {width});
    layer->q = AddOfLayer("self_attn.q_proj.weight", {q, width});
    layer->k = AddOfLayer("self_attn.k_proj.weight", {kv, width});
    layer->v = AddOfLayer("self_attn.v_proj.weight", {kv, width});
    if (c_.qkv_bias) {
      layer->q_bias = AddOfLayer("self_attn.q_proj.bias", {q});
      layer->k_bias = AddOfLayer("self_attn.k_proj.bias", {kv});
      layer->v_bias = AddOfLayer("self_attn.v_proj.bias", {kv});
    }
    if (c_.qk_norm) {
      layer->q_norm = AddOfLayer("self_attn.q_norm.weight", {c_.head_dim});
      layer->k_norm = AddOfLayer("self_attn.k_norm.weight", {c_.head_dim});
    }
    layer->output = AddOfLayer("self_attn.o_proj.weight", {width, q});
    if (c_.output_bias) layer->output_bias = AddOfLayer("self_attn.o_proj.bias", {width});
    if (c_.sinks) layer->sinks = AddOfLayer("self_attn.sinks", {c_.heads});
  }

  void AddExperts(LayerParameters* layer) {
    const std::string router =
        c_.family == ModelConfig::Family::kGptOss ? "mlp.router." : "mlp.gate.";
    layer->router = AddOfLayer(router + "weight", {c_.experts, c_.width});
    if (c_.expert_bias) layer->router_bias = AddOfLayer(router + "bias", {c_.experts});
    for (int64_t e = 0; e < c_.experts; ++e) {
      const std::string name = fmt::format("mlp.experts.{}.", e);
      ExpertParameters expert;
      expert.gate = AddOfLayer(name + "gate_proj.weight", {c_.expert_ffn, c_.width});
      expert.up = AddOfLayer(name + "up_proj.weight", {c_.expert_ffn, c_.width});
      expert.down = AddOfLayer(name + "down_proj.weight", {c_.width, c_.expert_ffn});
      if (c_.expert_bias) {
        expert.gate_bias = AddOfLayer(name + "gate_proj.bias", {c_.expert_ffn});
        expert.up_bias = AddOfLayer(name + "up_proj.bias", {c_.expert_ffn});
        expert.down_bias = AddOfLayer(name + "down_proj.bias", {c_.width});
      }
      layer->experts.push_back(expert);
    }
  }

  Model* model_;
  const ModelConfig& c_;
  std::string prefix_;
};

}  // namespace

Model NewModel(const ModelConfig& config) {
  Model model;
  model.config = config;
  ModelMaker maker(&model);
  model.embedding = maker.Add("model.embed_tokens.weight", {config.vocab, config.width});
  for (int64_t i = 0; i < config.layers; ++i) maker.AddLayer(i);
  model.final_norm = maker.Add("model.norm.weight", {config.width});
  model.head = config.tied_embeddings ? model.embedding
                                      : maker.Add("lm_head.weight", {config.vocab, config.width});
  if (config.scalar_head) model.scalar_head = maker.Add(kScalarHeadName, {1, config.width});
  return model;
}

void InitializeModel(uint64_t seed, Model* model) {
  const Rng root = Rng(seed).Split("model");
  for (Parameter& parameter : model->parameters) {
    if (parameter.shape.size() == 1) continue;  // norms, biases and sinks
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
  for (const StoredTensor& tensor : StoredTensorsOf(model)) {
    const TensorView* view = tensors.Find(tensor.name);
    if (view == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: tensor {} is missing", folder.string(), tensor.name));
    }
    if (Result<void> read = ReadStored(*view, tensor, &model); !read.ok()) {
      return read.error().In(folder.string());
    }
    used.insert(tensor.name);
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
  const std::vector<StoredTensor> stored = StoredTensorsOf(model);
  std::vector<std::vector<float>> joined(stored.size());
  std::vector<std::vector<Bf16>> halves(stored.size());
  std::map<std::string, TensorView> tensors;
  auto values = [&](int parameter) -> const std::vector<float>& {
    return model.parameters[static_cast<size_t>(parameter)].value;
  };
  for (size_t i = 0; i < stored.size(); ++i) {
    const StoredTensor& tensor = stored[i];
    if (!tensor.plain()) joined[i] = GatherStored(tensor, model, values);
    const std::vector<float>& all = tensor.plain() ? values(tensor.parts[0].parameter) : joined[i];
    TensorView view{DType::kF32, tensor.shape, std::as_bytes(std::span(all))};
    if (type == SaveType::kBf16) {
      halves[i].reserve(all.size());
      for (const float value : all) halves[i].push_back(Bf16OfFloat(value));
      view = {DType::kBF16, tensor.shape, std::as_bytes(std::span(halves[i]))};
    }
    tensors.emplace(tensor.name, view);
  }
  Json config = ModelConfigToJson(model.config);
  const char* name = type == SaveType::kBf16 ? "bfloat16" : "float32";
  config.Set(config.Find("torch_dtype") != nullptr ? "torch_dtype" : "dtype", name);
  HONE_RETURN_IF_ERROR(WriteSafetensors(folder / "model.safetensors", tensors, {{"format", "pt"}}));
  return WriteFileAtomic(folder / "config.json", DumpJson(config, JsonStyle::kPretty) + "\n");
}

}  // namespace hone
