#include "engine/encoder/encoder_shape.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"

namespace hone {
namespace {

// Far above any encoder there is, and small enough that their products do not overflow.
constexpr int64_t kLargestEncoderSize = int64_t{1} << 22;
constexpr int64_t kMostEncoderLayers = 1000;

Error BadKey(std::string_view key, std::string_view problem) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\" {}", key, problem));
}

Result<void> ReadSize(const Json& json, const char* key, int64_t* size) {
  const Json* value = json.Find(key);
  if (value == nullptr || value->is_null()) return BadKey(key, "is missing");
  if (!value->is_integer() || value->AsInteger() < 1 || value->AsInteger() > kLargestEncoderSize) {
    return BadKey(key, fmt::format("must be an integer from 1 to {}", kLargestEncoderSize));
  }
  *size = value->AsInteger();
  return {};
}

// Keys that may be absent, or say this and nothing else.
Result<void> CheckOnly(const Json& json, const char* key, const Json& only) {
  const Json* value = json.Find(key);
  if (value == nullptr || value->is_null() || *value == only) return {};
  return Error(ErrorCode::kUnsupported, fmt::format("\"{}\" is {}; Hone computes {} only", key,
                                                    DumpJson(*value), DumpJson(only)));
}

std::string TextAt(const Json& json, const char* key) {
  const Json* value = json.Find(key);
  return value != nullptr && value->is_string() ? value->AsString() : "";
}

bool Says(const Json& json, const char* key) {
  const Json* value = json.Find(key);
  return value != nullptr && *value == Json(true);
}

// The value of a file, or nothing where there is no such file.
Result<std::optional<Json>> JsonIfThere(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::optional<Json>();
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  return std::optional<Json>(*std::move(json));
}

}  // namespace

int64_t EncoderShape::ParameterCount() const {
  const int64_t norm = 2 * width;
  const int64_t attention = 4 * (width * width + width) + norm;
  const int64_t forward = 2 * width * ffn + ffn + width + norm;
  return (vocab + max_positions + token_types) * width + norm + layers * (attention + forward);
}

Result<EncoderShape> EncoderShapeFromJson(const Json& json) {
  if (TextAt(json, "model_type") != "bert") {
    return Error(ErrorCode::kUnsupported, fmt::format("the architecture \"{}\" is not \"bert\"",
                                                      TextAt(json, "model_type")));
  }
  EncoderShape shape;
  for (const auto& [key, size] :
       {std::pair("num_hidden_layers", &shape.layers), std::pair("hidden_size", &shape.width),
        std::pair("num_attention_heads", &shape.heads), std::pair("intermediate_size", &shape.ffn),
        std::pair("vocab_size", &shape.vocab),
        std::pair("max_position_embeddings", &shape.max_positions),
        std::pair("type_vocab_size", &shape.token_types)}) {
    HONE_RETURN_IF_ERROR(ReadSize(json, key, size));
  }
  if (shape.layers > kMostEncoderLayers) return BadKey("num_hidden_layers", "is out of reach");
  if (shape.width % shape.heads != 0) {
    return BadKey("num_attention_heads", "must divide hidden_size");
  }
  if (const Json* eps = json.Find("layer_norm_eps"); eps != nullptr && !eps->is_null()) {
    if (!eps->is_number() || !(eps->AsDouble() > 0) || !std::isfinite(eps->AsDouble())) {
      return BadKey("layer_norm_eps", "must be a number greater than 0");
    }
    shape.norm_eps = eps->AsDouble();
  }
  HONE_RETURN_IF_ERROR(CheckOnly(json, "hidden_act", "gelu"));
  HONE_RETURN_IF_ERROR(CheckOnly(json, "position_embedding_type", "absolute"));
  HONE_RETURN_IF_ERROR(CheckOnly(json, "is_decoder", false));
  return shape;
}

Result<EncoderShape> LoadEncoderShape(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  Result<EncoderShape> shape = EncoderShapeFromJson(*json);
  if (!shape.ok()) return shape.error().In(file.string());
  return shape;
}

bool IsEncoderFolder(const std::filesystem::path& folder) {
  const Result<std::optional<Json>> json = JsonIfThere(folder / "config.json");
  return json.ok() && *json && TextAt(**json, "model_type") == "bert";
}

Result<void> ReadPoolingConfig(const Json& json, Pooling* pooling) {
  const bool mean = Says(json, "pooling_mode_mean_tokens");
  const bool first = Says(json, "pooling_mode_cls_token");
  for (const char* other : {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                            "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"}) {
    HONE_RETURN_IF_ERROR(CheckOnly(json, other, false));
  }
  if (mean == first) {
    return Error(ErrorCode::kUnsupported,
                 "one of \"pooling_mode_mean_tokens\" and \"pooling_mode_cls_token\" must be true");
  }
  pooling->kind = mean ? Pooling::Kind::kMean : Pooling::Kind::kFirst;
  return {};
}

Result<void> ReadModules(const Json& json, Pooling* pooling, std::string* folder_of_pooling) {
  if (!json.is_array()) return Error(ErrorCode::kInvalidArgument, "is not an array of modules");
  pooling->normalize = false;
  for (const Json& module : json.AsArray()) {
    std::string type = TextAt(module, "type");
    type = type.substr(type.rfind('.') + 1);
    if (type == "Pooling") {
      *folder_of_pooling = TextAt(module, "path");
    } else if (type == "Normalize") {
      pooling->normalize = true;
    } else if (type != "Transformer") {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("the module \"{}\" is not one of Transformer, Pooling, Normalize",
                               TextAt(module, "type")));
    }
  }
  return {};
}

Result<Pooling> LoadPooling(const std::filesystem::path& folder) {
  Pooling pooling;
  std::string pooling_folder = "1_Pooling";
  const auto modules_file = folder / "modules.json";
  HONE_ASSIGN_OR_RETURN(const std::optional<Json> modules, JsonIfThere(modules_file));
  if (modules) {
    if (auto read = ReadModules(*modules, &pooling, &pooling_folder); !read.ok()) {
      return read.error().In(modules_file.string());
    }
  }
  const auto pooling_file = folder / pooling_folder / "config.json";
  HONE_ASSIGN_OR_RETURN(const std::optional<Json> how,
                        pooling_folder.empty() ? Result<std::optional<Json>>(std::optional<Json>())
                                               : JsonIfThere(pooling_file));
  if (how) {
    if (auto read = ReadPoolingConfig(*how, &pooling); !read.ok()) {
      return read.error().In(pooling_file.string());
    }
  }
  const auto limits_file = folder / "sentence_bert_config.json";
  HONE_ASSIGN_OR_RETURN(const std::optional<Json> limits, JsonIfThere(limits_file));
  const Json* most = limits ? limits->Find("max_seq_length") : nullptr;
  if (most == nullptr || most->is_null()) return pooling;
  if (!most->is_integer() || most->AsInteger() < 1) {
    return BadKey("max_seq_length", "must be an integer greater than 0").In(limits_file.string());
  }
  pooling.max_tokens = most->AsInteger();
  return pooling;
}

}  // namespace hone
