#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "record/call.h"
#include "record/sampling.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/vocabulary/decoding.h"
#include "text/vocabulary/normalizer.h"
#include "text/vocabulary/splitter.h"
#include "text/vocabulary/unigram.h"
#include "text/vocabulary/word_piece.h"

namespace hone {

// A half-open range of bytes of a text.
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

// Text to token ids and back, with the same ids as Hugging Face's tokenizers: byte-level BPE as the
// Qwen, Llama 3 and GPT-2 families use it, SentencePiece's BPE (Llama 2, Mistral, Gemma, Phi-3) and
// Unigram (T5), and WordPiece (BERT), which is for encoders: it forgets what text looked like.
// Immutable and thread-safe.
class Tokenizer {
 public:
  // Above any vocabulary there is; keeps a bad file from eating the memory.
  static constexpr TokenId kLargestId = 1 << 21;

  // From a tokenizer.json, or a folder that holds one, or a folder with vocab.json and merges.txt
  // (then the family, GPT-2 or Qwen, is read off tokenizer_config.json or off the vocabulary
  // itself).
  static Result<Tokenizer> Load(const std::filesystem::path& path);
  // From the text of a tokenizer.json. What Hone would not compute as the library does is
  // kUnsupported.
  static Result<Tokenizer> FromJson(std::string_view text);

  enum class Kind { kByteBpe, kCharacterBpe, kUnigram, kWordPiece };

  // What a tokenizer is made of.
  struct Parts {
    Kind kind = Kind::kByteBpe;
    // By id; "" for ids of added tokens and gaps. How tokens are spelled where they are no bytes.
    std::vector<std::string> token_bytes;
    std::vector<Bpe::Merge> merges;
    bool ignore_merges = false;
    Bpe::Unknowns unknowns;      // of characters, also of Unigram
    std::vector<double> scores;  // Unigram
    WordPiece::Options words;    // WordPiece
    std::vector<AddedToken> added;
    std::vector<NormalizeStep> normalizers;
    std::vector<SplitStep> splits;
    DecodeOptions decoding;
    std::string source;  // the tokenizer.json, where ToJson cannot write it from the rest
  };
  static Result<Tokenizer> FromParts(Parts parts);

  // A tokenizer.json that Hugging Face's tokenizers loads to the same ids: that which was read, if
  // the tokenizer is more than Hone can train.
  std::string ToJson() const;

  // Ids of the text. No token is put before or after it. Added tokens are recognised everywhere;
  // bytes that are not UTF-8 count as U+FFFD.
  std::vector<TokenId> Encode(std::string_view text) const;
  // The same, except that special and `reserved` tokens are not recognised where they touch a
  // `literal` range: "<|im_end|>" inside a tool's output is those ten characters and ends no turn.
  // `reserved` is told where the token stands; of one that is looked for behind normalising only
  // the stretch is known. The text must be UTF-8, the ranges ascending. `follows` is what the text
  // goes on behind: some vocabularies put a space before a text, but not into the middle of one.
  using Reserved = std::function<bool(const AddedToken&, size_t begin, size_t end)>;
  std::vector<TokenId> Encode(std::string_view text, std::span<const ByteRange> literal,
                              const Reserved& reserved = nullptr,
                              TextFollows follows = TextFollows::kNothing) const;
  // Whether it puts a space before texts that begin without one.
  bool PutsSpaces() const;
  // What a text behind these tokens follows.
  TextFollows Behind(std::span<const TokenId> ids) const;

  // The tokens as text, as Hugging Face's tokenizers decode them with their special tokens: what is
  // not UTF-8 becomes U+FFFD, and a space that was put before the text goes. Unknown ids are an
  // error of the caller (CHECK); see IsToken.
  std::string Decode(std::span<const TokenId> ids) const;
  // The tokens' bytes one after the other, which need not be UTF-8. A space at the beginning stays.
  std::string BytesOf(std::span<const TokenId> ids) const;
  // The bytes of one token inside a text; "" for an id that has none.
  std::string_view TokenBytes(TokenId id) const;

  // One more than the largest id.
  int32_t vocab_size() const { return static_cast<int32_t>(bytes_.size()); }
  bool IsToken(int64_t id) const { return id >= 0 && id < vocab_size() && !bytes_[id].empty(); }
  bool IsSpecial(TokenId id) const;
  bool IsAdded(TokenId id) const { return id >= 0 && id < vocab_size() && is_added_[id]; }
  // The added token spelled so, or nothing.
  std::optional<TokenId> FindAdded(std::string_view content) const;
  const std::vector<AddedToken>& added() const { return added_; }

 private:
  friend class StreamDecoder;
  using Model = std::variant<Bpe, Unigram, WordPiece>;
  Tokenizer(Model model, Parts parts);
  void FindTokenBytes(const std::vector<std::string>& token_texts);
  void EncodeSegment(std::string_view segment, const AddedTokenMatcher::Allowed& allowed,
                     TextFollows follows, std::vector<TokenId>* ids) const;
  void EncodePlain(std::string_view text, TextFollows follows, std::vector<TokenId>* ids) const;
  // The text that becomes certain with this token.
  std::string Join(TokenId id, TextJoiner* joiner) const;

  Model model_;
  Normalizer normalizer_;
  Splitter splitter_;
  DecodeOptions decoding_;
  std::string source_;
  std::vector<AddedToken> added_;
  AddedTokenMatcher raw_matcher_;         // added tokens looked for before normalisation
  AddedTokenMatcher normalized_matcher_;  // and after
  std::vector<std::string> bytes_;        // of every token, added ones included
  std::vector<std::string> first_bytes_;  // and where it is the first, if that is another text
  std::vector<bool> is_byte_;             // by id: one byte of a character, "<0x0A>"
  std::map<std::string, TokenId, std::less<>> added_by_content_;
  std::vector<bool> is_added_;  // by id
};

// Decodes token by token without ever showing half a character.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer* tokenizer)
      : tokenizer_(tokenizer), joiner_(tokenizer->decoding_) {}

  // The text that became certain with this token; may be empty.
  std::string Feed(TokenId id);
  // What is left: an unfinished character becomes U+FFFD. All Feeds and Finish together give
  // Decode.
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  std::string pending_;
  TextJoiner joiner_;
};

// Where the tokens of a text lie in its bytes (BytesOf).
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
