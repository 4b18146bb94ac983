#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// What a GGUF file says about its tokenizer: the values of its keys tokenizer.*, as they are.
struct GgufTokenizer {
  std::string model;                // tokenizer.ggml.model: "gpt2" or "llama"
  std::string pre;                  // how text is cut before merging; empty: not said
  std::vector<std::string> tokens;  // by id
  std::vector<double> scores;       // of "llama"; the higher is merged first
  std::vector<double> types;        // GgufTokenType by id; empty: all normal
  std::vector<std::string> merges;  // "a b", of "gpt2"
  // "bos", "eos", "unknown", "padding", ... to the token's id.
  std::map<std::string, int64_t> ids;
  std::optional<bool> add_bos, add_eos, add_space_prefix;
  // By name, "default" first where there is one.
  std::vector<std::pair<std::string, std::string>> templates;
  std::string hugging_face;  // a whole tokenizer.json, which some files carry; empty: none
};

enum class GgufTokenType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

// The text of a tokenizer.json that gives the same ids. "gpt2" is byte-level BPE with the split
// pattern that `pre` names. "llama" is SentencePiece's BPE with bytes for what is not in the
// vocabulary; its merges are derived from the scores, in the order of Llama 2's own file. Another
// model, and a `pre` that is not known, are kUnsupported; what contradicts itself is
// kInvalidArgument.
Result<std::string> TokenizerJsonOf(const GgufTokenizer& tokenizer);

// The tokenizer_config.json beside it: the tokens that a chat template asks for, and the template.
Result<Json> TokenizerConfigOf(const GgufTokenizer& tokenizer);

// The way back, from the text of a tokenizer.json: `vocab` tokens, those that the file has not as
// unused ones. Templates and special tokens are the caller's. A split pattern that has no name in
// GGUF files is kUnsupported.
Result<GgufTokenizer> GgufTokenizerOf(std::string_view tokenizer_json, int64_t vocab);

}  // namespace hone
