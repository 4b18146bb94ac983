#include "engine/weights/stored_tensors.h"

#include <set>

#include <fmt/format.h>

namespace hone {
namespace {

// The tensors of a layer that hold more than one parameter.
class JoinedTensors {
 public:
  JoinedTensors(const Model& model, std::vector<StoredTensor>* tensors)
      : model_(model), c_(model.config), tensors_(tensors) {}

  // Phi-3: matrices of one input under each other.
  void AddStacked(const std::string& name, const std::vector<int>& parameters) {
    StoredTensor tensor{name, {0, c_.width}, {}};
    for (const int parameter : parameters) {
      tensor.parts.push_back({parameter, tensor.shape[0] * c_.width, c_.width, 1});
      tensor.shape[0] += ShapeOf(parameter)[0];
    }
    Add(std::move(tensor));
  }

  // gpt-oss: [experts][inputs][outputs], where outputs of gate and up take turns.
  void AddExperts(const std::string& prefix, const std::vector<ExpertParameters>& experts) {
    const auto count = static_cast<int64_t>(experts.size());
    const int64_t width = c_.width, ffn = c_.expert_ffn;
    StoredTensor gate_up{prefix + "gate_up_proj", {count, width, 2 * ffn}, {}};
    StoredTensor gate_up_bias{prefix + "gate_up_proj_bias", {count, 2 * ffn}, {}};
    StoredTensor down{prefix + "down_proj", {count, ffn, width}, {}};
    StoredTensor down_bias{prefix + "down_proj_bias", {count, width}, {}};
    for (int64_t e = 0; e < count; ++e) {
      const ExpertParameters& expert = experts[static_cast<size_t>(e)];
      gate_up.parts.push_back({expert.gate, e * width * 2 * ffn, 2, 2 * ffn});
      gate_up.parts.push_back({expert.up, e * width * 2 * ffn + 1, 2, 2 * ffn});
      gate_up_bias.parts.push_back({expert.gate_bias, e * 2 * ffn, 2, 0});
      gate_up_bias.parts.push_back({expert.up_bias, e * 2 * ffn + 1, 2, 0});
      down.parts.push_back({expert.down, e * ffn * width, 1, width});
      down_bias.parts.push_back({expert.down_bias, e * width, 1, 0});
    }
    for (StoredTensor* tensor : {&gate_up, &gate_up_bias, &down, &down_bias}) {
      Add(std::move(*tensor));
    }
  }

  bool Holds(int parameter) const { return held_.contains(parameter); }

 private:
  const std::vector<int64_t>& ShapeOf(int parameter) const {
    return model_.parameters[static_cast<size_t>(parameter)].shape;
  }
  void Add(StoredTensor tensor) {
    for (const StoredPart& part : tensor.parts) held_.insert(part.parameter);
    tensors_->push_back(std::move(tensor));
  }

  const Model& model_;
  const ModelConfig& c_;
  std::vector<StoredTensor>* tensors_;
  std::set<int> held_;
};

}  // namespace

int64_t StoredTensor::count() const {
  int64_t all = 1;
  for (const int64_t size : shape) all *= size;
  return all;
}

std::vector<StoredTensor> StoredTensorsOf(const Model& model) {
  std::vector<StoredTensor> tensors;
  JoinedTensors joined(model, &tensors);
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerParameters& layer = model.layers[i];
    const std::string prefix = fmt::format("model.layers.{}.", i);
    if (model.config.family == ModelConfig::Family::kPhi3) {
      joined.AddStacked(prefix + "self_attn.qkv_proj.weight", {layer.q, layer.k, layer.v});
      joined.AddStacked(prefix + "mlp.gate_up_proj.weight", {layer.gate, layer.up});
    }
    if (model.config.family == ModelConfig::Family::kGptOss) {
      joined.AddExperts(prefix + "mlp.experts.", layer.experts);
    }
  }
  std::set<int> adapters;
  for (const LoraModule& module : model.lora) adapters.insert({module.a, module.b});
  for (size_t p = 0; p < model.parameters.size(); ++p) {
    const auto index = static_cast<int>(p);
    if (joined.Holds(index) || adapters.contains(index)) continue;
    tensors.push_back({model.parameters[p].name, model.parameters[p].shape, {{index}}});
  }
  return tensors;
}

}  // namespace hone
