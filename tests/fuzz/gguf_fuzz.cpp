// Any bytes as a GGUF file: its tensors, its model's shape and its tokenizer.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "engine/weights/gguf_model.h"
#include "text/gguf/gguf_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hone::TemporaryDirectory directory;
  const auto path = directory.path() / "x.gguf";
  std::FILE* out = std::fopen(path.c_str(), "wb");
  CHECK(out != nullptr);
  std::fwrite(data, 1, size, out);
  std::fclose(out);
  const auto file = hone::GgufFile::Open(path);
  if (!file.ok()) return 0;
  for (const auto& [name, tensor] : file->tensors()) {
    if (tensor.layout->decode == nullptr) continue;
    std::vector<float> numbers(static_cast<size_t>(tensor.count()));
    hone::Dequantise(*tensor.layout, tensor.bytes, numbers);
  }
  (void)hone::LoadGgufModel(*file);
  hone::GgufTokenizer tokenizer;
  const auto* tokens = file->Texts("tokenizer.ggml.tokens");
  const auto* merges = file->Texts("tokenizer.ggml.merges");
  if (tokens != nullptr) tokenizer.tokens = *tokens;
  if (merges != nullptr) tokenizer.merges = *merges;
  tokenizer.scores =
      file->Numbers("tokenizer.ggml.scores").value_or(std::vector<double>(tokenizer.tokens.size()));
  tokenizer.types = file->Numbers("tokenizer.ggml.token_type").value_or(std::vector<double>());
  tokenizer.ids = {{"bos", 0}, {"eos", file->Integer("tokenizer.ggml.eos_token_id").value_or(-1)}};
  for (const char* model : {"gpt2", "llama"}) {
    tokenizer.model = model;
    (void)hone::TokenizerConfigOf(tokenizer);
    const auto text = hone::TokenizerJsonOf(tokenizer);
    if (!text.ok()) continue;
    (void)hone::GgufTokenizerOf(*text, static_cast<int64_t>(tokenizer.tokens.size()));
  }
  return 0;
}
