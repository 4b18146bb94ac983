#include "engine/families/model_families.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone {
namespace {

using Family = ModelConfig::Family;
using Activation = ModelConfig::Activation;

struct NamedFamily {
  const char* type;  // "model_type"
  Family family;
  const char* architecture;
};
constexpr std::array kFamilies = {
    NamedFamily{"qwen2", Family::kQwen2, "Qwen2ForCausalLM"},
    NamedFamily{"qwen3", Family::kQwen3, "Qwen3ForCausalLM"},
    NamedFamily{"llama", Family::kLlama, "LlamaForCausalLM"},
    NamedFamily{"mistral", Family::kMistral, "MistralForCausalLM"},
    NamedFamily{"ministral", Family::kMistral, "MinistralForCausalLM"},
    NamedFamily{"smollm3", Family::kSmolLm3, "SmolLM3ForCausalLM"},
    NamedFamily{"phi3", Family::kPhi3, "Phi3ForCausalLM"},
    NamedFamily{"gemma", Family::kGemma, "GemmaForCausalLM"},
    NamedFamily{"gemma2", Family::kGemma2, "Gemma2ForCausalLM"},
    NamedFamily{"gemma3_text", Family::kGemma3, "Gemma3ForCausalLM"},
    NamedFamily{"qwen3_moe", Family::kQwen3Moe, "Qwen3MoeForCausalLM"},
    NamedFamily{"gpt_oss", Family::kGptOss, "GptOssForCausalLM"}};

// Where windows stand when layer_types does not say it.
struct WindowRule {
  enum class Kind {
    kAll,
    kButEvery,   // of so many layers, all but the last
    kFromLayer,  // from this layer on
    kUnturned    // in layers that turn nothing, if there is a window
  };
  Kind kind = Kind::kAll;
  int64_t number = 0;
};

constexpr WindowRule kEverySecond = {WindowRule::Kind::kButEvery, 2};

bool HasWindow(const WindowRule& rule, int64_t layer, int64_t window, const LayerTraits& traits) {
  switch (rule.kind) {
    case WindowRule::Kind::kAll: return true;
    case WindowRule::Kind::kButEvery: return (layer + 1) % rule.number != 0;
    case WindowRule::Kind::kFromLayer: return layer >= rule.number;
    case WindowRule::Kind::kUnturned: return window > 0 && traits.rope == LayerTraits::Rope::kNone;
  }
  return false;
}

// The layers that see a window only: "layer_types", or where the rule puts them.
void ReadWindows(ConfigReader* reader, int64_t window, const WindowRule& rule,
                 ModelConfig* config) {
  config->traits.resize(static_cast<size_t>(config->layers));
  const Json* types = reader->Find("layer_types");
  if (types != nullptr &&
      (!types->is_array() || types->AsArray().size() != config->traits.size())) {
    return reader->Problem("layer_types", "must name the kind of each layer");
  }
  for (int64_t i = 0; i < config->layers; ++i) {
    LayerTraits& traits = config->traits[static_cast<size_t>(i)];
    bool sliding = HasWindow(rule, i, window, traits);
    if (types != nullptr) {
      const Json& type = types->AsArray()[static_cast<size_t>(i)];
      sliding = type == Json("sliding_attention");
      if (!sliding && type != Json("full_attention")) {
        reader->Unsupported(fmt::format(
            "layer_types: {} is not one of full_attention, sliding_attention", DumpJson(type)));
      }
    }
    if (sliding && window == 0) reader->Problem("sliding_window", "is missing");
    if (sliding) traits.window = window;
    if (sliding && config->family == Family::kGemma3) traits.rope = LayerTraits::Rope::kLocal;
  }
}

// As Qwen 2 and 3 have it: windows from some layer on, which may be the first.
WindowRule FromLayer(ConfigReader* reader) {
  const Json* given = reader->Find("max_window_layers");
  const bool first = given != nullptr && *given == Json(0);
  return {WindowRule::Kind::kFromLayer, first ? 0 : reader->Size("max_window_layers", 28)};
}

// "sliding_window", which may be absent or null: `otherwise`, or none.
int64_t WindowOf(ConfigReader* reader, const Json* absent_key, int64_t otherwise) {
  if (absent_key == nullptr) return otherwise;
  return absent_key->is_null() ? 0 : reader->Size("sliding_window");
}

void ReadActivation(ConfigReader* reader, ModelConfig* config) {
  if (config->activation == Activation::kGelu) {
    // Gemma 1's files say "gelu" and mean the approximation all the same.
    const std::string name =
        reader->Text("hidden_activation", reader->Text("hidden_act", "gelu_pytorch_tanh"));
    const bool old = config->family == Family::kGemma && name == "gelu";
    if (name != "gelu_pytorch_tanh" && !old) {
      reader->Unsupported(fmt::format("the activation \"{}\" is not \"gelu_pytorch_tanh\"", name));
    }
    return;
  }
  const std::string name = reader->Text("hidden_act", "silu");
  if (name != "silu") {
    reader->Unsupported(fmt::format("the activation \"{}\" is not \"silu\"", name));
  }
  if (config->activation == Activation::kClamped && reader->Positive("swiglu_limit", 7) != 7) {
    reader->Unsupported("a swiglu_limit other than 7");
  }
}

void ReadGemmaScales(ConfigReader* reader, ModelConfig* config) {
  const bool second = config->family == Family::kGemma2;
  config->attention_scale = 1 / std::sqrt(reader->Positive("query_pre_attn_scalar", 256));
  auto cap = [&](const char* key, double otherwise) {
    return reader->Positive(key, second && reader->Given(key) == nullptr ? otherwise : 0);
  };
  config->attention_cap = cap("attn_logit_softcapping", 50);
  config->logit_cap = cap("final_logit_softcapping", 30);
  if (reader->Flag("use_bidirectional_attention", false)) {
    reader->Unsupported("attention in both directions (use_bidirectional_attention)");
  }
}

void ReadExperts(ConfigReader* reader, ModelConfig* config) {
  const bool gpt_oss = config->family == Family::kGptOss;
  config->experts = reader->Size("num_experts", reader->Size("num_local_experts", 128));
  config->chosen_experts = reader->Size("num_experts_per_tok", gpt_oss ? 4 : 8);
  config->expert_ffn = gpt_oss ? config->ffn : reader->Size("moe_intermediate_size", 768);
  // Qwen's classes have false where the file says nothing; all its models say true.
  config->normalised_experts = gpt_oss || reader->Flag("norm_topk_prob", false);
  if (config->chosen_experts > config->experts) {
    reader->Problem("num_experts_per_tok", "is more than there are experts");
  }
  // So few that the parameters can be counted, and far more than any model has.
  constexpr int64_t kMostExperts = 1 << 17;  // in all layers
  if (config->experts > 65535 || config->layers * config->experts > kMostExperts) {
    reader->Problem("num_experts", "is out of reach");
  }
  const int64_t every = reader->Size("decoder_sparse_step", 1);
  for (int64_t i = 0; i < config->layers; ++i) {
    config->traits[static_cast<size_t>(i)].experts = (i + 1) % every == 0;
  }
  const Json* dense = reader->Find("mlp_only_layers");
  if (dense == nullptr || !dense->is_array()) return;
  for (const Json& layer : dense->AsArray()) {
    if (!layer.is_integer() || layer.AsInteger() < 0 || layer.AsInteger() >= config->layers) {
      return reader->Problem("mlp_only_layers", "names a layer that there is not");
    }
    config->traits[static_cast<size_t>(layer.AsInteger())].experts = false;
  }
}

// SmolLM3's layers that turn nothing: a 0 in no_rope_layers, or every fourth.
void ReadUnturnedLayers(ConfigReader* reader, ModelConfig* config) {
  const int64_t every = reader->Size("no_rope_layer_interval", 4);
  const Json* turned = reader->Find("no_rope_layers");
  if (turned != nullptr &&
      (!turned->is_array() || turned->AsArray().size() != config->traits.size())) {
    return reader->Problem("no_rope_layers", "must have a number for each layer");
  }
  for (int64_t i = 0; i < config->layers; ++i) {
    const auto at = static_cast<size_t>(i);
    const bool turns = turned != nullptr ? turned->AsArray()[at] != Json(0) : (i + 1) % every != 0;
    if (!turns) config->traits[at].rope = LayerTraits::Rope::kNone;
  }
}

}  // namespace

Result<Family> FamilyOf(const Json& json) {
  const Json* type = json.Find("model_type");
  const std::string name = type != nullptr && type->is_string() ? type->AsString() : "";
  std::vector<std::string_view> names;
  for (const NamedFamily& one : kFamilies) {
    if (name == one.type) return one.family;
    names.push_back(one.type);
  }
  if (name == "bert") {
    return Error(ErrorCode::kUnsupported,
                 "this is an encoder of texts, not a language model: hone embed turns texts into "
                 "vectors with it, and it writes nothing");
  }
  return Error(ErrorCode::kUnsupported, fmt::format("the architecture \"{}\" is not one of {}",
                                                    name, fmt::join(names, ", ")));
}

FamilyNames NamesOf(Family family) {
  for (const NamedFamily& one : kFamilies) {
    if (family == one.family) return {one.type, one.architecture};
  }
  return {"llama", "LlamaForCausalLM"};
}

void SetFamilyDefaults(ConfigReader* reader, ModelConfig* config) {
  const Family family = config->family;
  const bool gemma =
      family == Family::kGemma || family == Family::kGemma2 || family == Family::kGemma3;
  config->tied_embeddings = gemma || family == Family::kSmolLm3;
  config->qk_norm =
      family == Family::kQwen3 || family == Family::kQwen3Moe || family == Family::kGemma3;
  config->norm_adds_one = config->scaled_embedding = gemma;
  config->output_norms = family == Family::kGemma2 || family == Family::kGemma3;
  if (gemma) config->activation = Activation::kGelu;
  if (family == Family::kPhi3 || family == Family::kGptOss) config->norm_eps = 1e-5;
  if (family == Family::kGemma3) config->rope_theta = 1e6;
  if (family == Family::kSmolLm3) config->rope_theta = 2e6;
  if (family == Family::kGptOss) {
    config->rope_theta = 150000;
    config->activation = Activation::kClamped;
    config->sinks = config->expert_bias = true;
  }
  const bool bias = reader->Flag("attention_bias", family == Family::kGptOss);
  config->qkv_bias = family == Family::kQwen2 || bias;
  config->output_bias = family != Family::kQwen2 && bias;
}

void ReadFamilyKeys(ConfigReader* reader, ModelConfig* config) {
  const Json* window = reader->Given("sliding_window");
  switch (config->family) {
    case Family::kLlama:
    case Family::kGemma: break;
    case Family::kQwen2:
    case Family::kQwen3:
      if (reader->Flag("use_sliding_window", false)) {
        ReadWindows(reader, WindowOf(reader, window, 4096), FromLayer(reader), config);
      }
      break;
    case Family::kQwen3Moe:
      // Its class has one mask for all layers, whatever other keys say.
      config->traits.resize(static_cast<size_t>(config->layers));
      if (reader->Flag("use_sliding_window", false)) {
        const int64_t size = WindowOf(reader, window, 4096);
        for (LayerTraits& traits : config->traits) traits.window = size;
      }
      break;
    case Family::kSmolLm3:
      config->traits.resize(static_cast<size_t>(config->layers));
      ReadUnturnedLayers(reader, config);
      if (reader->Flag("use_sliding_window", false)) {
        ReadWindows(reader, WindowOf(reader, window, 0), {WindowRule::Kind::kUnturned}, config);
      }
      break;
    case Family::kMistral:
    case Family::kPhi3: {
      // Mistral's class has a window where the file says nothing.
      const bool phi = config->family == Family::kPhi3;
      const int64_t size = WindowOf(reader, window, phi ? 0 : 4096);
      if (size > 0) ReadWindows(reader, size, {WindowRule::Kind::kAll}, config);
      break;
    }
    case Family::kGemma2:
      ReadWindows(reader, WindowOf(reader, window, 4096), kEverySecond, config);
      ReadGemmaScales(reader, config);
      break;
    case Family::kGemma3:
      ReadWindows(reader, WindowOf(reader, window, 4096),
                  {WindowRule::Kind::kButEvery, reader->Size("sliding_window_pattern", 6)}, config);
      ReadGemmaScales(reader, config);
      break;
    case Family::kGptOss:
      ReadWindows(reader, WindowOf(reader, window, 128), kEverySecond, config);
      break;
  }
  if (config->family == Family::kQwen3Moe || config->family == Family::kGptOss) {
    config->traits.resize(static_cast<size_t>(config->layers));
    ReadExperts(reader, config);
  }
  ReadActivation(reader, config);
  if (reader->Flag("mlp_bias", false)) reader->Unsupported("biases in the MLP are not supported");
  if (reader->Find("quantization_config") != nullptr) {
    reader->Unsupported(
        "weights that are quantised (quantization_config); load a folder with weights in bfloat16");
  }
}

}  // namespace hone
