#include "text/gguf/llama2c_tokenizer.h"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace hone {
namespace {

// SentencePiece's tokens: three special ones, all bytes, then pieces of text.
constexpr size_t kFirstByte = 3, kFirstPiece = kFirstByte + 256;
constexpr int32_t kLongestToken = 1 << 16;
constexpr std::string_view kVisibleSpace = "\u2581";

Error BadLlama2cTokenizer(size_t token) {
  return Error(ErrorCode::kCorrupt,
               fmt::format("not a tokenizer of llama2.c, or a damaged one (token {})", token));
}

// With SentencePiece's sign where llama2.c has a space.
std::string WithVisibleSpaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ')
      out += kVisibleSpace;
    else
      out += c;
  }
  return out;
}

}  // namespace

Result<GgufTokenizer> Llama2cTokenizer(std::string_view bytes) {
  GgufTokenizer tokenizer;
  tokenizer.model = "llama";
  tokenizer.ids = {{"unknown", 0}, {"bos", 1}, {"eos", 2}};
  tokenizer.add_bos = true;
  tokenizer.add_eos = false;
  tokenizer.add_space_prefix = true;
  constexpr size_t kLongest = sizeof(int32_t);  // how long a token is at most: not needed
  if (bytes.size() < kLongest) return BadLlama2cTokenizer(0);
  bytes.remove_prefix(kLongest);
  for (size_t id = 0; !bytes.empty(); ++id) {
    float score = 0;
    int32_t size = 0;
    if (bytes.size() < sizeof score + sizeof size) return BadLlama2cTokenizer(id);
    std::memcpy(&score, bytes.data(), sizeof score);
    std::memcpy(&size, bytes.data() + sizeof score, sizeof size);
    bytes.remove_prefix(sizeof score + sizeof size);
    if (size < 0 || size > kLongestToken || static_cast<size_t>(size) > bytes.size()) {
      return BadLlama2cTokenizer(id);
    }
    const std::string_view text = bytes.substr(0, static_cast<size_t>(size));
    bytes.remove_prefix(static_cast<size_t>(size));
    std::string token = WithVisibleSpaces(text);
    GgufTokenType type = GgufTokenType::kNormal;
    if (id < kFirstByte) {
      constexpr std::string_view kSpecial[] = {"<unk>", "<s>", "</s>"};
      token = kSpecial[id];
      type = id == 0 ? GgufTokenType::kUnknown : GgufTokenType::kControl;
    } else if (id < kFirstPiece) {
      if (size > 2) return BadLlama2cTokenizer(id);  // those from 128 on in UTF-8
      token = fmt::format("<0x{:02X}>", id - kFirstByte);
      type = GgufTokenType::kByte;
    }
    tokenizer.tokens.push_back(std::move(token));
    tokenizer.scores.push_back(static_cast<double>(score));
    tokenizer.types.push_back(static_cast<double>(type));
  }
  if (tokenizer.tokens.size() < kFirstPiece) return BadLlama2cTokenizer(tokenizer.tokens.size());
  return tokenizer;
}

}  // namespace hone
