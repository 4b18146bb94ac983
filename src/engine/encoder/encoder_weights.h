#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "engine/encoder/encoder_shape.h"

namespace hone {

// A weight matrix [outputs][inputs] with its bias.
struct EncoderLinear {
  std::vector<float> weight, bias;
};

// What a layer norm multiplies with and adds.
struct EncoderNorm {
  std::vector<float> weight, bias;
};

struct EncoderLayerWeights {
  EncoderLinear query, key, value, attended;
  EncoderNorm attention_norm;
  EncoderLinear inner, outer;
  EncoderNorm output_norm;
};

struct EncoderWeights {
  EncoderShape shape;
  std::vector<float> words, positions, token_types;  // [vocab or so][width]
  EncoderNorm norm;
  std::vector<EncoderLayerWeights> layers;
};

// From a Hugging Face folder, whose tensors may all begin with "bert.". A tensor that is missing,
// left over, of the wrong shape or type, or not finite is an error that names it; heads for other
// work (a pooler, "cls.") are passed over.
Result<EncoderWeights> LoadEncoderWeights(const std::filesystem::path& folder);

}  // namespace hone
