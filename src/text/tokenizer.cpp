#include "text/tokenizer.h"

#include <algorithm>

#include <fmt/format.h>
#include "base/utf8.h"
#include "text/normalize.h"

namespace hone {
namespace {

std::vector<AddedToken> WithNormalized(const std::vector<AddedToken>& tokens, bool normalized) {
  std::vector<AddedToken> chosen;
  for (const AddedToken& token : tokens) {
    if (token.normalized == normalized) chosen.push_back(token);
  }
  return chosen;
}

bool Overlaps(std::span<const ByteRange> ranges, size_t begin, size_t end) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange& range) {
    return range.begin < end && begin < range.end;
  });
}

}  // namespace

Tokenizer::Tokenizer(Bpe bpe, Splitter splitter, std::vector<AddedToken> added, bool nfc)
    : bpe_(std::move(bpe)),
      splitter_(std::move(splitter)),
      added_(std::move(added)),
      nfc_(nfc),
      raw_matcher_(WithNormalized(added_, false)),
      normalized_matcher_(WithNormalized(added_, true)),
      bytes_(bpe_.token_bytes()) {
  for (const AddedToken& token : added_) {
    if (token.id >= vocab_size()) bytes_.resize(static_cast<size_t>(token.id) + 1);
    bytes_[token.id] = token.content;
    added_by_content_[token.content] = token.id;
  }
}

Result<Tokenizer> Tokenizer::FromParts(Parts parts) {
  for (const AddedToken& token : parts.added) {
    if (token.id < 0 || token.id > kLargestId) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the added token \"{}\" has the id {}", token.content, token.id));
    }
    if (!IsUtf8(token.content) || token.content.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the added token {} has no text", token.id));
    }
  }
  for (const SplitStep& step : parts.splits) HONE_RETURN_IF_ERROR(step.pattern.TryOut());
  HONE_ASSIGN_OR_RETURN(Bpe bpe, Bpe::Create(std::move(parts.token_bytes), std::move(parts.merges),
                                             parts.ignore_merges));
  return Tokenizer(std::move(bpe), Splitter(std::move(parts.splits)), std::move(parts.added),
                   parts.nfc);
}

std::vector<TokenId> Tokenizer::Encode(std::string_view text) const {
  if (!IsUtf8(text)) return Encode(Utf8Lossy(text), {});
  return Encode(text, {});
}

std::vector<TokenId> Tokenizer::Encode(std::string_view text, std::span<const ByteRange> literal,
                                       const Reserved& reserved) const {
  DCHECK(IsUtf8(text));
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3);
  const auto is_marker = [&](const AddedToken& token, size_t begin, size_t end) {
    return token.special || (reserved && reserved(token, begin, end));
  };
  const auto allowed = [&](const AddedToken& token, size_t begin, size_t end) {
    return !Overlaps(literal, begin, end) || !is_marker(token, begin, end);
  };
  size_t at = 0;
  while (at < text.size()) {
    const auto match = raw_matcher_.empty() ? std::nullopt : raw_matcher_.Find(text, at, allowed);
    const size_t end = match ? match->begin : text.size();
    // Normalising may move the ends of literal ranges, so for tokens that are looked for behind it
    // the whole stretch counts as literal when any of it is.
    const auto no_marker = [&, at](const AddedToken& token, size_t, size_t) {
      return !is_marker(token, at, end);
    };
    EncodeSegment(text.substr(at, end - at),
                  Overlaps(literal, at, end) ? no_marker : AddedTokenMatcher::Allowed(), &ids);
    if (!match) break;
    ids.push_back(match->token->id);
    at = match->end;
  }
  return ids;
}

// A stretch without added tokens of the first kind.
void Tokenizer::EncodeSegment(std::string_view segment, const AddedTokenMatcher::Allowed& allowed,
                              std::vector<TokenId>* ids) const {
  std::string normalized;
  if (nfc_ && !IsAscii(segment)) {
    normalized = ToNfc(segment);
    segment = normalized;
  }
  if (normalized_matcher_.empty()) return EncodePlain(segment, ids);
  size_t at = 0;
  while (at < segment.size()) {
    const auto match = normalized_matcher_.Find(segment, at, allowed);
    EncodePlain(segment.substr(at, (match ? match->begin : segment.size()) - at), ids);
    if (!match) break;
    ids->push_back(match->token->id);
    at = match->end;
  }
}

void Tokenizer::EncodePlain(std::string_view text, std::vector<TokenId>* ids) const {
  splitter_.Split(text, [&](std::string_view piece) { bpe_.Encode(piece, ids); });
}

std::string Tokenizer::Decode(std::span<const TokenId> ids) const {
  return Utf8Lossy(BytesOf(ids));
}

std::string Tokenizer::BytesOf(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) bytes += TokenBytes(id);
  return bytes;
}

std::string_view Tokenizer::TokenBytes(TokenId id) const {
  CHECK(id >= 0 && id < vocab_size(), "a token id outside the vocabulary");
  return bytes_[id];
}

bool Tokenizer::IsSpecial(TokenId id) const {
  return std::any_of(added_.begin(), added_.end(),
                     [&](const AddedToken& token) { return token.id == id && token.special; });
}

std::optional<TokenId> Tokenizer::FindAdded(std::string_view content) const {
  const auto found = added_by_content_.find(content);
  if (found == added_by_content_.end()) return std::nullopt;
  return found->second;
}

std::string StreamDecoder::Feed(TokenId id) {
  pending_ += tokenizer_->TokenBytes(id);
  const size_t certain = pending_.size() - Utf8IncompleteSuffix(pending_);
  std::string text = Utf8Lossy(std::string_view(pending_).substr(0, certain));
  pending_.erase(0, certain);
  return text;
}

std::string StreamDecoder::Finish() {
  std::string text = Utf8Lossy(pending_);
  pending_.clear();
  return text;
}

TokenOffsets::TokenOffsets(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  ends_.reserve(ids.size());
  size_t at = 0;
  for (const TokenId id : ids) ends_.push_back(at += tokenizer.TokenBytes(id).size());
}

Span TokenOffsets::Covering(ByteRange bytes) const {
  if (bytes.begin >= bytes.end || ends_.empty()) return {};
  // The first token that ends behind the beginning, and the first that reaches the end.
  const auto first = std::upper_bound(ends_.begin(), ends_.end(), bytes.begin);
  const auto last = std::lower_bound(first, ends_.end(), bytes.end);
  if (first == ends_.end()) return {};
  return {static_cast<int32_t>(first - ends_.begin()),
          static_cast<int32_t>(std::min(last, ends_.end() - 1) - ends_.begin()) + 1};
}

}  // namespace hone
