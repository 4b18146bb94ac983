#include "engine/model.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/rng.h"
#include "engine/weights/model_stream.h"

namespace hone {
namespace {

constexpr float kInitialDeviation = 0.02f;

// As in Hugging Face's models for sequence classification.
constexpr char kScalarHeadName[] = "score.weight";

bool IsNorm(const Parameter& parameter) {
  return parameter.name.find("norm.weight") != std::string::npos;
}

// Adds the parameters of a model one after the other.
class ModelMaker {
 public:
  explicit ModelMaker(Model* model) : model_(model), c_(model->config) {}

  int Add(std::string name, std::vector<int64_t> shape) {
    model_->parameters.push_back({std::move(name), std::move(shape), {}});
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

int64_t Parameter::count() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

Model NewModel(const ModelConfig& config) {
  Model model = ModelShape(config);
  for (Parameter& parameter : model.parameters) {
    const bool one = IsNorm(parameter) && !config.norm_adds_one;
    parameter.value.assign(static_cast<size_t>(parameter.count()), one ? 1.0f : 0.0f);
  }
  return model;
}

Model ModelShape(const ModelConfig& config) {
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
  HONE_ASSIGN_OR_RETURN(const ParameterReader reader, ReaderOfFolder(folder, config));
  return ReadModel(config, reader);
}

}  // namespace hone
