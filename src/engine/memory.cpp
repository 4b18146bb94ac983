#include "engine/memory.h"

#include <unistd.h>

#include <algorithm>

#include "engine/decoder_parts.h"

namespace hone {
namespace {

int64_t ProductBytes(Precision precision) {
  return precision == Precision::kBf16 ? 2 : static_cast<int64_t>(sizeof(float));
}

// Embeddings without tying are looked up, not multiplied: only the head is packed.
int64_t MultipliedCount(const ModelConfig& config) {
  return config.ParameterCount() - (config.tied_embeddings ? 0 : config.vocab * config.width);
}

}  // namespace

int64_t DrawingWeightBytes(const ModelConfig& config, Precision precision) {
  return config.ParameterCount() * static_cast<int64_t>(sizeof(float)) +
         MultipliedCount(config) * ProductBytes(precision);
}

std::vector<std::pair<std::string, int64_t>> TrainingMemory(const ModelConfig& c,
                                                            Precision precision, int64_t tokens,
                                                            bool recompute_activations,
                                                            int64_t adapters) {
  const int64_t kFloat = sizeof(float), product = ProductBytes(precision);
  const int64_t parameters = c.ParameterCount() + adapters;
  const int64_t trained = adapters > 0 ? adapters : parameters;
  const int64_t q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim, w = c.width;
  // Of a layer of experts: what one token's experts hold.
  const int64_t f = std::max(c.experts > 0 ? c.chosen_experts * c.expert_ffn : 0, c.ffn);
  const int64_t multiplied = MultipliedCount(c) + adapters;

  const int64_t raw = c.qk_norm ? q + kv : 0;
  const int64_t outputs = c.output_norms ? 2 * w : 0;
  const int64_t layer = 2 * w + (q + 2 * kv) + raw + q + 2 * f + outputs;  // floats per token, kept
  const int64_t kept = recompute_activations ? c.layers * w + layer : c.layers * layer;
  const int64_t pages = c.layers * 2 * kv;                            // in the product's type
  const int64_t shared = 6 * w + f + 2 * f + q + (q + 2 * kv) + raw;  // floats per token
  const int64_t panels = std::max(w, f);                              // in the product's type

  // Logits that are not kept are overwritten by their gradient.
  const bool keeps = KeepsLogits(tokens, c.vocab);
  const int64_t slice = std::min(tokens, LogitRowsAtOnce(c.vocab)) * (c.vocab + 2 * w);
  const int64_t logits = keeps ? tokens * c.vocab : 0;
  return {{"weights", parameters * kFloat},
          {"packed weights", 2 * multiplied * product},
          {"gradients", trained * kFloat},
          {"moments", 2 * trained * kFloat},
          {"activations", tokens * (kept * kFloat + pages * product)},
          {"buffers", tokens * (shared * kFloat + panels * product)},
          {"logits", (slice + logits) * kFloat}};
}

int64_t MachineMemoryBytes() {
  const int64_t pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
}

int64_t TotalBytes(const std::vector<std::pair<std::string, int64_t>>& parts) {
  int64_t total = 0;
  for (const auto& [name, bytes] : parts) total += bytes;
  return total;
}

}  // namespace hone
