#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/encoder/encoder.h"
#include "text/tokenizer.h"
#include "text/vocabulary/text_frame.h"
#include "tools/text_embedder.h"

namespace hone {

// An encoder of texts from a Hugging Face folder: its tokenizer, its weights, and how its vectors
// are pooled. Thread-safe.
class TextEncoder final : public TextEmbedder {
 public:
  // The errors name the file, and what in it cannot be used. `threads` 0: as many as there are.
  static Result<std::unique_ptr<TextEncoder>> Open(const std::filesystem::path& folder,
                                                   int threads = 0);

  int64_t dimensions() const override { return encoder_->shape().width; }
  // Texts that are too long are cut.
  Result<std::vector<std::vector<float>>> Embed(std::span<const std::string> texts) override;

  // A text as the encoder gets it: between the tokens that frame it, and cut behind max_tokens().
  struct Encoded {
    Encoder::Tokens tokens;
    bool cut = false;
  };
  Encoded Encode(std::string_view text) const;
  // How many texts those embed at a time who show how far they are, or may have to stop.
  static constexpr size_t kTextsAtOnce = 64;
  // Of tokens that CheckTokens lets pass.
  std::vector<std::vector<float>> EmbedTokens(std::span<const Encoder::Tokens> texts) const;
  // Whether tokens that somebody sent are a text for EmbedTokens; the error says why not.
  Result<void> CheckTokens(std::span<const TokenId> tokens) const;

  // Of one text, those that frame it included.
  int64_t max_tokens() const { return max_tokens_; }

 private:
  TextEncoder(std::unique_ptr<Encoder> encoder, Tokenizer tokenizer, TextFrame frame,
              Pooling pooling);

  std::unique_ptr<Encoder> encoder_;
  Tokenizer tokenizer_;
  TextFrame frame_;
  Pooling pooling_;
  int64_t max_tokens_;
};

}  // namespace hone
