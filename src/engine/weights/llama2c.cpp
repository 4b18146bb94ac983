#include "engine/weights/llama2c.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "engine/weights/gguf_names.h"

namespace hone {
namespace {

constexpr size_t kLlama2cHeader = 7 * sizeof(int32_t);
constexpr int64_t kMostLayers = 1000, kLargestSize = 1 << 24;

// Where tensors begin, in numbers behind the header; a layer's own are behind each other.
struct Llama2cPlaces {
  std::map<std::string, int64_t> begin;  // by the name without its layer
  int64_t all = 0;                       // numbers in the file
};

// The order is that of the file.
Llama2cPlaces PlacesOf(const ModelConfig& c) {
  Llama2cPlaces places;
  const auto add = [&](const char* name, int64_t count) {
    places.begin[name] = places.all;
    places.all += count;
  };
  const int64_t kv = c.kv_heads * c.head_dim;
  add("model.embed_tokens.weight", c.vocab * c.width);
  add("input_layernorm.weight", c.layers * c.width);
  add("self_attn.q_proj.weight", c.layers * c.width * c.width);
  add("self_attn.k_proj.weight", c.layers * c.width * kv);
  add("self_attn.v_proj.weight", c.layers * c.width * kv);
  add("self_attn.o_proj.weight", c.layers * c.width * c.width);
  add("post_attention_layernorm.weight", c.layers * c.width);
  add("mlp.gate_proj.weight", c.layers * c.width * c.ffn);
  add("mlp.down_proj.weight", c.layers * c.width * c.ffn);
  add("mlp.up_proj.weight", c.layers * c.width * c.ffn);
  add("model.norm.weight", c.width);
  add("rotations", c.max_positions * c.head_dim);  // cosines and sines, which follow from the rest
  if (!c.tied_embeddings) add("lm_head.weight", c.vocab * c.width);
  return places;
}

bool IsSane(const ModelConfig& c) {
  for (const int64_t size : {c.width, c.ffn, c.heads, c.kv_heads, c.vocab, c.max_positions}) {
    if (size < 1 || size > kLargestSize) return false;
  }
  return c.layers >= 1 && c.layers <= kMostLayers && c.width % c.heads == 0 &&
         c.heads % c.kv_heads == 0 && c.width / c.heads % 2 == 0;
}

// "self_attn.q_proj.weight" and 3, for "model.layers.3.self_attn.q_proj.weight".
std::pair<std::string, int64_t> WithoutLayer(const std::string& name) {
  constexpr std::string_view kLayers = "model.layers.";
  if (!name.starts_with(kLayers)) return {name, 0};
  const size_t dot = name.find('.', kLayers.size());
  return {name.substr(dot + 1), std::stoll(name.substr(kLayers.size(), dot - kLayers.size()))};
}

}  // namespace

Result<Llama2cFile> Llama2cFile::Open(const std::filesystem::path& path) {
  Llama2cFile file;
  file.name_ = path.string();
  HONE_ASSIGN_OR_RETURN(file.mapping_, MappedFile::Open(path));
  const auto bytes = file.mapping_->bytes();
  const auto bad = [&](std::string what) {
    return Error(ErrorCode::kCorrupt, fmt::format("{}: {}", file.name_, what));
  };
  if (bytes.size() < kLlama2cHeader) return bad("not a checkpoint of llama2.c; it is too short");
  std::array<int32_t, 7> header;
  std::memcpy(header.data(), bytes.data(), kLlama2cHeader);
  ModelConfig& config = file.config_;
  config.family = ModelConfig::Family::kLlama;
  config.width = header[0];
  config.ffn = header[1];
  config.layers = header[2];
  config.heads = header[3];
  config.kv_heads = header[4];
  // A head of its own is said by the sign.
  config.tied_embeddings = header[5] > 0;
  config.vocab = std::abs(int64_t{header[5]});
  config.max_positions = header[6];
  config.norm_eps = 1e-5;
  config.rope_theta = 10000;
  if (config.heads < 1 || config.kv_heads < 1) return bad("not a checkpoint of llama2.c");
  config.head_dim = config.width / config.heads;
  if (!IsSane(config)) return bad("not a checkpoint of llama2.c; its sizes are absurd");
  const int64_t wanted = static_cast<int64_t>(kLlama2cHeader) + 4 * PlacesOf(config).all;
  if (wanted != std::ssize(bytes)) {
    return bad(fmt::format("its header asks for {} bytes, but it has {}", wanted, bytes.size()));
  }
  return file;
}

ParameterReader Llama2cFile::Reader() const {
  return [mapping = mapping_, config = config_, name = name_,
          places = PlacesOf(config_)](Parameter* parameter) -> Result<void> {
    const auto [kind, layer] = WithoutLayer(parameter->name);
    CHECK(places.begin.contains(kind), "a parameter that llama2.c has not");
    const int64_t count = parameter->count(), begin = places.begin.at(kind) + layer * count;
    const std::byte* stored = mapping->bytes().data() + kLlama2cHeader + 4 * begin;
    const int64_t columns = parameter->shape.back();
    const bool reordered = RowsAreReordered(config.family, parameter->name);
    for (int64_t row = 0; row < count / columns; ++row) {
      const int64_t from = reordered ? StoredRow(row, config.head_dim) : row;
      std::memcpy(parameter->value.data() + row * columns, stored + 4 * from * columns,
                  static_cast<size_t>(4 * columns));
    }
    if (!std::all_of(parameter->value.begin(), parameter->value.end(),
                     [](float x) { return std::isfinite(x); })) {
      return Error(
          ErrorCode::kCorrupt,
          fmt::format("{}: tensor {}: holds a number that is not finite", name, parameter->name));
    }
    return {};
  };
}

}  // namespace hone
