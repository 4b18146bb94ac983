#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model_config.h"

namespace hone {

// What differs between a model in a GGUF file and in a Hugging Face folder besides the header.

// A tensor's name in a GGUF file for its Hugging Face name; nothing where it has none there.
std::optional<std::string> GgufTensorName(const std::string& name);

// Whether the rows of this tensor (by its Hugging Face name) stand in another order: queries and
// keys of llama, whose rotated pairs are neighbours there and half a head apart here.
bool RowsAreReordered(ModelConfig::Family family, const std::string& name);
// Where row `row` of such a tensor stands in a GGUF file.
int64_t StoredRow(int64_t row, int64_t head_dim);

// What the frequencies of a head's pairs are divided by, as llama's files have it in rope_freqs.
// [head_dim / 2]
std::vector<float> RopeDivisors(const ModelConfig& config);
inline constexpr char kRopeDivisorsName[] = "rope_freqs.weight";

// The exact settings behind the divisors, under a key of our own: the tensor does not tell them.
inline constexpr char kRopeFactorKey[] = "hone.rope.factor";
inline constexpr char kRopeLowKey[] = "hone.rope.low_freq_factor";
inline constexpr char kRopeHighKey[] = "hone.rope.high_freq_factor";
inline constexpr char kRopePositionsKey[] = "hone.rope.original_context_length";

}  // namespace hone
