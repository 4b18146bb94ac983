#pragma once

#include "base/result.h"
#include "engine/weights/model_stream.h"
#include "engine/weights/onnx.h"

namespace hone {

// The parameters of a decoder that was exported from transformers to ONNX; the file must outlive
// the reader. Weights of products have no names of their own there: they are found by the names of
// the operations that use them ("/model/layers.0/self_attn/q_proj/MatMul"), and lie transposed.
// Whole numbers of 8 bits with one scale and zero point per tensor, as onnxruntime quantises,
// become what they stand for. Where embedding and head are tied but stored twice, as two roundings
// of one matrix, they become their mean. A tensor that is missing or of another shape is an error
// that names it.
Result<ParameterReader> ReaderOfOnnx(const OnnxFile& file, const ModelConfig& config);

}  // namespace hone
