#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary/splitter.h"

namespace hone {

// How byte-level tokenizers cut text, by the names that GGUF files have for it
// (tokenizer.ggml.pre).
struct SplitName {
  std::string_view name;
  // One pattern after the other; all matches are pieces.
  std::vector<std::string_view> patterns;
  bool nfc = false;            // the family normalises first
  bool ignore_merges = false;  // a piece that is a token needs no merges
  bool begins = false;         // the family puts its bos token before a text
};

inline constexpr std::string_view kLlama3Split =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The first of those with equal patterns is the one that is written.
inline const std::vector<SplitName>& SplitNames() {
  static const std::vector<SplitName> names = {
      {"qwen2", {kQwen2Split}, true, false, false},
      {"deepseek-r1-qwen", {kQwen2Split}, false, false, false},
      {"llama-bpe", {kLlama3Split}, false, true, true},
      {"llama3", {kLlama3Split}, false, true, true},
      {"llama-v3", {kLlama3Split}, false, true, true},
      {"gpt-2", {kGpt2Split}, false, false, false},
      {"smollm", {R"(\p{N})", kGpt2Split}, false, false, false},
  };
  return names;
}

}  // namespace hone
