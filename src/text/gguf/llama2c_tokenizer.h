#pragma once

#include <string_view>

#include "base/result.h"
#include "text/gguf/gguf_tokenizer.h"

namespace hone {

// The tokenizer.bin that belongs to checkpoints of llama2.c (scores and texts of Llama 2's 32,000
// tokens, in which spaces and bytes stand for themselves) as the tokenizer that it was made from.
// What is cut off, or is not of this kind, is kCorrupt.
Result<GgufTokenizer> Llama2cTokenizer(std::string_view bytes);

}  // namespace hone
