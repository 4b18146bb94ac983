#include "simulate/models/text_encoder.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone {

TextEncoder::TextEncoder(std::unique_ptr<Encoder> encoder, Tokenizer tokenizer, TextFrame frame,
                         Pooling pooling)
    : encoder_(std::move(encoder)),
      tokenizer_(std::move(tokenizer)),
      frame_(std::move(frame)),
      pooling_(pooling),
      max_tokens_(encoder_->shape().max_positions) {
  if (pooling_.max_tokens > 0) max_tokens_ = std::min(max_tokens_, pooling_.max_tokens);
}

Result<std::unique_ptr<TextEncoder>> TextEncoder::Open(const std::filesystem::path& folder,
                                                       int threads) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "config.json", ignored)) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("{}: no encoder of texts here (there is no config.json); name the "
                             "Hugging Face folder of one (docs/embeddings.md)",
                             folder.string()));
  }
  HONE_ASSIGN_OR_RETURN(const EncoderShape shape, LoadEncoderShape(folder));
  HONE_ASSIGN_OR_RETURN(const Pooling pooling, LoadPooling(folder));
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(folder));
  HONE_ASSIGN_OR_RETURN(TextFrame frame, LoadTextFrame(folder));
  const auto refuse = [&](std::string problem) {
    return Error(ErrorCode::kInvalidArgument, std::move(problem)).In(folder.string());
  };
  if (tokenizer.vocab_size() > shape.vocab) {
    return refuse(
        fmt::format("the tokenizer has {} tokens, the model only {}; they belong to "
                    "different models",
                    tokenizer.vocab_size(), shape.vocab));
  }
  for (const auto* tokens : {&frame.before, &frame.after}) {
    for (const TokenId token : *tokens) {
      if (token < shape.vocab) continue;
      return refuse(
          fmt::format("post_processor puts the token {} around texts, which the model "
                      "does not have",
                      token));
    }
  }
  HONE_ASSIGN_OR_RETURN(auto encoder, Encoder::Open(folder, threads));
  std::unique_ptr<TextEncoder> opened(
      new TextEncoder(std::move(encoder), std::move(tokenizer), std::move(frame), pooling));
  const size_t framing = opened->frame_.before.size() + opened->frame_.after.size();
  if (framing == 0) {
    return refuse("tokenizer.json has no post_processor: nothing says which tokens frame a text");
  }
  if (static_cast<size_t>(opened->max_tokens_) <= framing) {
    return refuse(
        fmt::format("texts of at most {} tokens have no room beside the {} that frame "
                    "them",
                    opened->max_tokens_, framing));
  }
  return opened;
}

TextEncoder::Encoded TextEncoder::Encode(std::string_view text) const {
  std::vector<TokenId> inner = tokenizer_.Encode(text);
  const size_t room = static_cast<size_t>(max_tokens_) - frame_.before.size() - frame_.after.size();
  Encoded encoded{frame_.before, inner.size() > room};
  inner.resize(std::min(inner.size(), room));
  encoded.tokens.insert(encoded.tokens.end(), inner.begin(), inner.end());
  encoded.tokens.insert(encoded.tokens.end(), frame_.after.begin(), frame_.after.end());
  return encoded;
}

Result<void> TextEncoder::CheckTokens(std::span<const TokenId> tokens) const {
  if (static_cast<int64_t>(tokens.size()) > max_tokens_) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} tokens are more than the {} that the model takes", tokens.size(),
                             max_tokens_));
  }
  return encoder_->CheckText(tokens);
}

std::vector<std::vector<float>> TextEncoder::EmbedTokens(
    std::span<const Encoder::Tokens> texts) const {
  return encoder_->TextVectors(texts, pooling_);
}

Result<std::vector<std::vector<float>>> TextEncoder::Embed(std::span<const std::string> texts) {
  std::vector<Encoder::Tokens> tokens;
  for (const std::string& text : texts) tokens.push_back(Encode(text).tokens);
  return EmbedTokens(tokens);
}

}  // namespace hone
