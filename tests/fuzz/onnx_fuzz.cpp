// Any bytes as an ONNX file, as a checkpoint of llama2.c, and as its tokenizer.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "engine/weights/llama2c.h"
#include "engine/weights/onnx_model.h"
#include "text/gguf/llama2c_tokenizer.h"

namespace {

// The shape of tests/golden/onnx, so that its seeds are read to the end.
hone::ModelConfig SmallConfig(bool tied) {
  hone::ModelConfig config;
  config.family = hone::ModelConfig::Family::kLlama;
  config.layers = 1;
  config.width = 8;
  config.heads = 2;
  config.kv_heads = 1;
  config.head_dim = 4;
  config.ffn = 12;
  config.vocab = 10;
  config.tied_embeddings = tied;
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hone::TemporaryDirectory directory;
  const auto path = directory.path() / "x";
  std::FILE* out = std::fopen(path.c_str(), "wb");
  CHECK(out != nullptr);
  std::fwrite(data, 1, size, out);
  std::fclose(out);
  if (const auto file = hone::OnnxFile::Open(path); file.ok()) {
    for (const auto& [name, tensor] : file->tensors()) {
      std::vector<float> numbers(static_cast<size_t>(tensor.count()));
      if (tensor.type != hone::OnnxType::kInt64) tensor.CopyAsF32(numbers);
    }
    for (const bool tied : {false, true}) {
      const hone::ModelConfig config = SmallConfig(tied);
      const auto reader = hone::ReaderOfOnnx(*file, config);
      if (reader.ok()) (void)hone::ReadModel(config, *reader);
    }
  }
  if (const auto file = hone::Llama2cFile::Open(path); file.ok()) {
    (void)hone::ReadModel(file->config(), file->Reader());
  }
  const auto tokenizer = hone::Llama2cTokenizer({reinterpret_cast<const char*>(data), size});
  if (tokenizer.ok()) (void)hone::TokenizerJsonOf(*tokenizer);
  return 0;
}
