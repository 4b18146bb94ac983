// The configuration of gguf_model.h.

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "engine/families/model_families.h"
#include "engine/weights/gguf_model.h"
#include "engine/weights/gguf_names.h"

namespace hone {
namespace {

// Keys of an architecture that say nothing but what is read below.
constexpr std::string_view kUnderstoodKeys[] = {
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.layer_norm_rms_epsilon",
    "attention.value_length",
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scaling.type",
    "tensor_data_layout",  // of the program that wrote the file
    "vocab_size",
};

// Keys that may be there as long as they ask for nothing.
constexpr struct {
  std::string_view key;
  double value;
} kNeutralKeys[] = {{"attention.sliding_window", 0}, {"expert_count", 0},
                    {"expert_used_count", 0},        {"rope.scale_linear", 1},
                    {"rope.scaling.factor", 1},      {"rope.scaling.attn_factor", 1}};

constexpr double kDivisorTolerance = 1e-4;  // divisors are stored in float32 or less

// A float32 as the decimal number that was meant: 1e-05, not 9.99999974737875e-06.
double AsMeant(double value) {
  const auto narrow = static_cast<float>(value);
  return static_cast<double>(narrow) == value ? std::stod(fmt::format("{}", narrow)) : value;
}

// Reads the keys of one architecture; the first problem is kept.
class ArchitectureReader {
 public:
  ArchitectureReader(const GgufFile& file, std::string architecture)
      : file_(file), prefix_(std::move(architecture) + ".") {}

  std::string Key(std::string_view key) const { return prefix_ + std::string(key); }
  bool Has(std::string_view key) const { return file_.Find(Key(key)) != nullptr; }

  // An integer, or an array that has it for every layer.
  int64_t Size(std::string_view key) {
    if (const auto value = file_.Integer(Key(key))) return *value;
    const auto each = file_.Numbers(Key(key));
    if (each && !each->empty() && std::fabs(each->front()) < 1e9) {
      if (std::equal(each->begin() + 1, each->end(), each->begin())) {
        return static_cast<int64_t>(each->front());
      }
      Refuse(key, "has another value in every layer, which Hone does not compute");
    }
    Problem(key, Has(key) ? "is not an integer" : "is missing");
    return 1;
  }
  double Real(std::string_view key, double otherwise) {
    if (!Has(key)) return otherwise;
    const auto value = file_.Number(Key(key));
    if (!value) Problem(key, "is not a number");
    return AsMeant(value.value_or(otherwise));
  }

  // Refuses what would change the computation unheard.
  void CheckKeys() {
    for (const auto& [key, value] : file_.metadata()) {
      if (!key.starts_with(prefix_)) continue;
      const std::string_view name = std::string_view(key).substr(prefix_.size());
      const auto* neutral = std::find_if(std::begin(kNeutralKeys), std::end(kNeutralKeys),
                                         [&](const auto& known) { return known.key == name; });
      if (neutral != std::end(kNeutralKeys)) {
        if (file_.Number(key) != neutral->value)
          Refuse(name, "asks for what Hone does not compute");
      } else if (std::find(std::begin(kUnderstoodKeys), std::end(kUnderstoodKeys), name) ==
                 std::end(kUnderstoodKeys)) {
        Refuse(name, "is not understood");
      }
    }
    const std::string* scaling = file_.Text(Key("rope.scaling.type"));
    if (Has("rope.scaling.type") && (scaling == nullptr || *scaling != "none")) {
      Refuse("rope.scaling.type",
             fmt::format("is {}; of the ways to stretch positions only Llama 3's is computed",
                         scaling == nullptr ? "no text" : "\"" + *scaling + "\""));
    }
  }

  void Problem(std::string_view key, std::string_view text) {
    Keep(ErrorCode::kInvalidArgument, Key(key), text);
  }
  void Refuse(std::string_view key, std::string_view text) {
    Keep(ErrorCode::kUnsupported, Key(key), text);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  void Keep(ErrorCode code, const std::string& key, std::string_view text) {
    if (!error_) error_ = Error(code, fmt::format("key {} {}", key, text));
  }

  const GgufFile& file_;
  std::string prefix_;
  std::optional<Error> error_;
};

Result<ModelConfig::Family> FamilyOfGguf(const GgufFile& file) {
  const std::string* name = file.Text("general.architecture");
  if (name == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "key general.architecture is missing");
  }
  for (const auto family :
       {ModelConfig::Family::kLlama, ModelConfig::Family::kQwen2, ModelConfig::Family::kQwen3}) {
    if (*name == ArchitectureName(family)) return family;
  }
  return Error(ErrorCode::kUnsupported,
               fmt::format("the architecture \"{}\" is not one of llama, qwen2, qwen3", *name));
}

// The settings whose divisors the file has. They cannot be computed from the divisors, so those
// that are known are tried: our own keys, then what all of Meta's models have.
Result<void> ReadRopeDivisors(const GgufFile& file, ModelConfig* config) {
  const GgufTensor* stored = file.FindTensor(kRopeDivisorsName);
  if (stored == nullptr) return {};
  const std::string where = fmt::format("tensor {}", kRopeDivisorsName);
  if (stored->layout->type != GgmlType::kF32 || stored->count() != config->head_dim / 2) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: is not {} numbers of F32", where, config->head_dim / 2));
  }
  std::vector<float> divisors(static_cast<size_t>(stored->count()));
  Dequantise(*stored->layout, stored->bytes, divisors);
  if (std::all_of(divisors.begin(), divisors.end(), [](float x) { return x == 1; })) return {};
  RopeScaling own{.factor = *std::max_element(divisors.begin(), divisors.end())};
  RopeScaling noted = own;
  noted.factor = file.Number(kRopeFactorKey).value_or(own.factor);
  noted.low_freq_factor = file.Number(kRopeLowKey).value_or(own.low_freq_factor);
  noted.high_freq_factor = file.Number(kRopeHighKey).value_or(own.high_freq_factor);
  noted.original_positions = file.Integer(kRopePositionsKey).value_or(own.original_positions);
  for (const RopeScaling& scaling : {noted, own}) {
    config->rope_scaling = scaling;
    const std::vector<float> expected = RopeDivisors(*config);
    if (std::equal(divisors.begin(), divisors.end(), expected.begin(), [](float a, float b) {
          return std::fabs(a - b) <= kDivisorTolerance * std::fabs(b);
        })) {
      return {};
    }
  }
  return Error(ErrorCode::kUnsupported,
               where + ": its numbers are not those of Llama 3's way to stretch positions");
}

// What the file says, before it is checked as a config.json is.
ModelConfig StatedConfig(const GgufFile& file, ModelConfig::Family family,
                         ArchitectureReader* reader) {
  ModelConfig config;
  config.family = family;
  config.layers = reader->Size("block_count");
  config.width = reader->Size("embedding_length");
  config.heads = reader->Size("attention.head_count");
  config.kv_heads = reader->Has("attention.head_count_kv") ? reader->Size("attention.head_count_kv")
                                                           : config.heads;
  config.head_dim = reader->Has("attention.key_length")
                        ? reader->Size("attention.key_length")
                        : config.width / std::max<int64_t>(config.heads, 1);
  config.ffn = reader->Size("feed_forward_length");
  config.max_positions = reader->Size("context_length");
  config.norm_eps = reader->Real("attention.layer_norm_rms_epsilon", 1e-5);
  config.rope_theta = reader->Real("rope.freq_base", 10000);
  for (const char* key : {"attention.value_length", "rope.dimension_count"}) {
    if (reader->Has(key) && reader->Size(key) != config.head_dim) {
      reader->Refuse(key, fmt::format("is not the {} of a head's keys", config.head_dim));
    }
  }
  const GgufTensor* embedding = file.FindTensor("token_embd.weight");
  if (embedding != nullptr && embedding->shape.size() == 2) config.vocab = embedding->shape[0];
  config.tied_embeddings = file.FindTensor("output.weight") == nullptr;
  config.output_bias = file.FindTensor("blk.0.attn_output.bias") != nullptr;
  config.qkv_bias = config.output_bias || family == ModelConfig::Family::kQwen2;
  config.qk_norm = family == ModelConfig::Family::kQwen3;
  return config;
}

}  // namespace

std::string_view ArchitectureName(ModelConfig::Family family) {
  return NamesOf(family).type;  // GGUF's and Hugging Face's are the same
}

Result<ModelConfig> ModelConfigOfGguf(const GgufFile& file) {
  auto read = [&]() -> Result<ModelConfig> {
    HONE_ASSIGN_OR_RETURN(const ModelConfig::Family family, FamilyOfGguf(file));
    if (const auto parts = file.Integer("split.count"); parts && *parts > 1) {
      return Error(
          ErrorCode::kUnsupported,
          fmt::format("key split.count: this is one of {} files; merge them into one first "
                      "(llama-gguf-split --merge)",
                      *parts));
    }
    if (file.FindTensor("token_embd.weight") == nullptr) {
      return Error(ErrorCode::kInvalidArgument, "tensor token_embd.weight is missing");
    }
    ArchitectureReader reader(file, std::string(ArchitectureName(family)));
    reader.CheckKeys();
    ModelConfig stated = StatedConfig(file, family, &reader);
    if (reader.error()) return *reader.error();
    // Sizes are checked as those of a config.json are, before anything is computed from them.
    HONE_ASSIGN_OR_RETURN(const ModelConfig sizes, ModelConfigFromJson(ModelConfigToJson(stated)));
    HONE_RETURN_IF_ERROR(ReadRopeDivisors(file, &stated));
    Json json = ModelConfigToJson(stated);
    for (const char* name : {"bos", "eos"}) {
      const auto id = file.Integer(fmt::format("tokenizer.ggml.{}_token_id", name));
      if (id) json.Set(fmt::format("{}_token_id", name), *id);
    }
    return ModelConfigFromJson(json);
  }();
  if (!read.ok()) return read.error().In(file.name());
  return read;
}

}  // namespace hone
