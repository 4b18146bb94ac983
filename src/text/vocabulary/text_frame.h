#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/sampling.h"

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

}  // namespace hone
