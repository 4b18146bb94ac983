#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model_config.h"

namespace hone {

// One trained tensor, float32, under its Hugging Face name; where a file has several in one tensor
// (weights/stored_tensors.h), under the name that it would have alone.
struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> value;
  bool trained = true;  // false: frozen

  int64_t count() const;  // of numbers, by the shape
};

// One of a layer's experts, as below.
struct ExpertParameters {
  int gate = -1, up = -1, down = -1;
  int gate_bias = -1, up_bias = -1, down_bias = -1;
};

// Where the parameters of a layer stand in Model::parameters; -1 for those the family lacks.
struct LayerParameters {
  int input_norm = -1, q = -1, k = -1, v = -1, q_bias = -1, k_bias = -1, v_bias = -1;
  int q_norm = -1, k_norm = -1, output = -1, output_bias = -1, sinks = -1;
  int attention_norm = -1;  // of what attention adds to the stream
  int post_norm = -1;       // before the feed-forward half
  int gate = -1, up = -1, down = -1;
  int forward_norm = -1;  // of what the feed-forward half adds to the stream
  // Instead of gate, up and down: [experts][width], and the experts it chooses among.
  int router = -1, router_bias = -1;
  std::vector<ExpertParameters> experts;
};

// A low-rank adapter of one weight matrix W: W x becomes W x + scale B (A x).
struct LoraModule {
  int target = -1;     // W
  int a = -1, b = -1;  // [rank][inputs], [outputs][rank]
  int64_t rank = 0;
  float scale = 1;
};

// A decoder's configuration and weights. All int are indices into `parameters`.
struct Model {
  ModelConfig config;
  std::vector<Parameter> parameters;
  std::vector<LayerParameters> layers;
  int embedding = -1, final_norm = -1;
  int head = -1;         // the embedding when tied
  int scalar_head = -1;  // [1][width], for values or rewards; -1: none
  std::vector<LoraModule> lora;
};

// A model of this shape with all weights zero but the norms, which multiply by one.
Model NewModel(const ModelConfig& config);

// The same without numbers: the value of every parameter is empty.
Model ModelShape(const ModelConfig& config);

// Fresh weights: normal with standard deviation 0.02, the same bits for the same seed everywhere.
void InitializeModel(uint64_t seed, Model* model);

// A head of one output (zeros), unless there is one: a value, or a reward.
void AddScalarHead(Model* model);

// (1 - share) of the numbers and `share` of the others, of which there are as many (CHECK).
void MixNumbers(const std::vector<float>& others, double share, std::vector<float>* numbers);

// From a Hugging Face folder. A tensor that is missing, left over, of the wrong shape or type, or
// not finite is an error that names it.
Result<Model> LoadModel(const std::filesystem::path& folder);

enum class SaveType { kF32, kBf16, kF16 };

// A Hugging Face folder: config.json and model.safetensors. Tied heads are written once, as others
// do; adapters are not part of it (engine/lora.h). What kF16 cannot hold is an error.
Result<void> SaveModel(const Model& model, SaveType type, const std::filesystem::path& folder);

}  // namespace hone
