#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/call.h"
#include "record/sampling.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/splitter.h"

namespace hone {

// A half-open range of bytes of a text.
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

// Text to token ids and back: byte-level BPE as the Qwen, Llama 3 and GPT-2 families use it, with
// the same ids as Hugging Face's tokenizers. Immutable and thread-safe.
class Tokenizer {
 public:
  // Above any vocabulary there is; keeps a bad file from eating the memory.
  static constexpr TokenId kLargestId = 1 << 21;

  // From a tokenizer.json, or a folder that holds one, or a folder with vocab.json and merges.txt
  // (then the family, GPT-2 or Qwen, is read off tokenizer_config.json or off the vocabulary
  // itself).
  static Result<Tokenizer> Load(const std::filesystem::path& path);
  // From the text of a tokenizer.json. What is not byte-level BPE is kUnsupported.
  static Result<Tokenizer> FromJson(std::string_view text);

  // What a tokenizer is made of.
  struct Parts {
    std::vector<std::string> token_bytes;  // by id; "" for ids of added tokens and gaps
    std::vector<Bpe::Merge> merges;
    bool ignore_merges = false;
    std::vector<AddedToken> added;
    std::vector<SplitStep> splits;
    bool nfc = false;  // normalise to NFC first
  };
  static Result<Tokenizer> FromParts(Parts parts);

  // A tokenizer.json that Hugging Face's tokenizers loads to the same ids.
  std::string ToJson() const;

  // Ids of the text. No token is put before or after it. Added tokens are recognised everywhere;
  // bytes that are not UTF-8 count as U+FFFD.
  std::vector<TokenId> Encode(std::string_view text) const;
  // The same, except that special and `reserved` tokens are not recognised where they touch a
  // `literal` range: "<|im_end|>" inside a tool's output is those ten characters and ends no turn.
  // `reserved` is told where the token stands; of one that is looked for behind normalising only
  // the stretch is known. The text must be UTF-8, the ranges ascending.
  using Reserved = std::function<bool(const AddedToken&, size_t begin, size_t end)>;
  std::vector<TokenId> Encode(std::string_view text, std::span<const ByteRange> literal,
                              const Reserved& reserved = nullptr) const;

  // The bytes of the tokens as text; what is not UTF-8 becomes U+FFFD. Unknown ids are an error of
  // the caller (CHECK); see IsToken.
  std::string Decode(std::span<const TokenId> ids) const;
  // The tokens' bytes one after the other, which need not be UTF-8.
  std::string BytesOf(std::span<const TokenId> ids) const;
  // The bytes of one token; "" for an id that has none.
  std::string_view TokenBytes(TokenId id) const;

  // One more than the largest id.
  int32_t vocab_size() const { return static_cast<int32_t>(bytes_.size()); }
  bool IsToken(int64_t id) const { return id >= 0 && id < vocab_size() && !bytes_[id].empty(); }
  bool IsSpecial(TokenId id) const;
  // The added token spelled so, or nothing.
  std::optional<TokenId> FindAdded(std::string_view content) const;
  const std::vector<AddedToken>& added() const { return added_; }

 private:
  Tokenizer(Bpe bpe, Splitter splitter, std::vector<AddedToken> added, bool nfc);
  void EncodeSegment(std::string_view segment, const AddedTokenMatcher::Allowed& allowed,
                     std::vector<TokenId>* ids) const;
  void EncodePlain(std::string_view text, std::vector<TokenId>* ids) const;

  Bpe bpe_;
  Splitter splitter_;
  std::vector<AddedToken> added_;
  bool nfc_;
  AddedTokenMatcher raw_matcher_;         // added tokens looked for before normalisation
  AddedTokenMatcher normalized_matcher_;  // and after
  std::vector<std::string> bytes_;        // of every token, added ones included
  std::map<std::string, TokenId, std::less<>> added_by_content_;
};

// Decodes token by token without ever showing half a character.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer* tokenizer) : tokenizer_(tokenizer) {}

  // The text that became certain with this token; may be empty.
  std::string Feed(TokenId id);
  // What is left: an unfinished character becomes U+FFFD. All Feeds and Finish together give
  // Decode.
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  std::string pending_;
};

// Where the tokens of a text lie in its bytes.
class TokenOffsets {
 public:
  TokenOffsets(const Tokenizer& tokenizer, std::span<const TokenId> ids);

  // The smallest range of tokens that covers a range of bytes. It is exact where both ends fall on
  // token boundaries, which they do when the markers at the ends are added tokens. An empty range
  // of bytes has no tokens.
  Span Covering(ByteRange bytes) const;

 private:
  std::vector<size_t> ends_;  // of each token
};

}  // namespace hone
