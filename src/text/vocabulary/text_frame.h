#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/sampling.h"
#include "text/tokenizer.h"

namespace hone {

// The tokens that a tokenizer.json puts before and after a single text: "[CLS]" and "[SEP]" of
// BERT. Dialects write such tokens themselves; encoders of texts want them so.
struct TextFrame {
  std::vector<TokenId> before, after;

  bool operator==(const TextFrame&) const = default;
};

// From the text of a tokenizer.json: its "post_processor", of the types TemplateProcessing,
// BertProcessing and RobertaProcessing, or a Sequence with one of them. None is an empty frame;
// another type is kUnsupported.
Result<TextFrame> TextFrameFromJson(std::string_view tokenizer_json);
// From a tokenizer.json, or a folder that holds one.
Result<TextFrame> LoadTextFrame(const std::filesystem::path& path);

// What stands before a text that a language model goes on with, as the files beside its tokenizer
// say: bos_token where "add_bos_token" of tokenizer_config.json is true, nothing where it is false,
// and where it is absent what the post_processor puts there. Of a tokenizer.json alone the last.
Result<std::vector<TokenId>> LoadTextBeginning(const std::filesystem::path& path,
                                               const Tokenizer& tokenizer);
// The same before these tokens, unless they begin with it.
std::vector<TokenId> WithBeginning(std::vector<TokenId> beginning, std::span<const TokenId> tokens);

}  // namespace hone
