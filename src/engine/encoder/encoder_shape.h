#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// The shape of an encoder of texts of the BERT family: every token sees every other, and the layers
// give a vector per token.
struct EncoderShape {
  int64_t layers = 6;
  int64_t width = 384;
  int64_t heads = 12;  // divides width
  int64_t ffn = 1536;
  int64_t vocab = 30522;
  int64_t max_positions = 512;
  int64_t token_types = 2;
  double norm_eps = 1e-12;

  int64_t head_dim() const { return width / heads; }
  int64_t ParameterCount() const;  // of what Encoder computes with: no pooler, no other heads
};

// From the text of a config.json whose model_type is "bert". What would change the computation
// (other activations, relative positions, decoders) is kUnsupported; shapes that do not fit each
// other are kInvalidArgument. The error names the key.
Result<EncoderShape> EncoderShapeFromJson(const Json& json);
Result<EncoderShape> LoadEncoderShape(const std::filesystem::path& folder);

// Whether the folder's config.json says that it holds an encoder of texts, not a language model.
bool IsEncoderFolder(const std::filesystem::path& folder);

// How the vectors of a text's tokens become one vector.
struct Pooling {
  enum class Kind { kMean, kFirst };  // kFirst: the vector of "[CLS]"
  Kind kind = Kind::kMean;
  bool normalize = true;   // to length 1
  int64_t max_tokens = 0;  // of a text, those that frame it included; 0: as many as positions

  bool operator==(const Pooling&) const = default;
};

// As sentence-transformers writes it down: modules.json, the config.json of its Pooling, and
// max_seq_length of sentence_bert_config.json. What is absent leaves the mean, normalised. Modules
// and poolings that Hone would compute otherwise are kUnsupported.
Result<Pooling> LoadPooling(const std::filesystem::path& folder);
// The parts, from the values of the files.
Result<void> ReadPoolingConfig(const Json& json, Pooling* pooling);
// `folder_of_pooling` gets the path of the Pooling module; empty: there is none.
Result<void> ReadModules(const Json& json, Pooling* pooling, std::string* folder_of_pooling);

}  // namespace hone
