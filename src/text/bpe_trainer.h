#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace hone {

struct BpeTrainingOptions {
  int32_t vocab_size = 1024;                     // bytes and merges; added tokens come on top
  int64_t min_frequency = 2;                     // a pair seen less often is not merged
  std::string split = std::string(kQwen2Split);  // the split pattern
  bool nfc = true;
  std::vector<AddedToken> added;  // ids are given out after the vocabulary, in this order
};

// Trains byte-level BPE on texts: ids 0..255 are the bytes in the order of their spelling, then one
// token per merge, most frequent pair first, ties to the smaller pair of ids. The same texts and
// options give the same tokenizer as Hugging Face's BpeTrainer with the full byte alphabet.
Result<Tokenizer> TrainBpe(const std::vector<std::string>& texts,
                           const BpeTrainingOptions& options);

}  // namespace hone
