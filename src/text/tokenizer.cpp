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

// What those that are found after normalisation are spelled like then.
std::vector<std::string> SpellingsOf(const std::vector<AddedToken>& tokens,
                                     const Normalizer& normalizer) {
  std::vector<std::string> spellings;
  for (const AddedToken& token : tokens) {
    if (token.normalized) spellings.push_back(normalizer.Apply(token.content));
  }
  return spellings;
}

std::vector<std::string> SpellingsIn(const Bpe& model) { return model.token_bytes(); }
std::vector<std::string> SpellingsIn(const Unigram& model) { return model.token_texts(); }
std::vector<std::string> SpellingsIn(const WordPiece& model) { return model.token_texts(); }

bool Overlaps(std::span<const ByteRange> ranges, size_t begin, size_t end) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const ByteRange& range) {
    return range.begin < end && begin < range.end;
  });
}

}  // namespace

Tokenizer::Tokenizer(Model model, Parts parts)
    : model_(std::move(model)),
      normalizer_(std::move(parts.normalizers)),
      splitter_(std::move(parts.splits)),
      decoding_(std::move(parts.decoding)),
      source_(std::move(parts.source)),
      added_(std::move(parts.added)),
      raw_matcher_(WithNormalized(added_, false)),
      normalized_matcher_(WithNormalized(added_, true), SpellingsOf(added_, normalizer_)) {
  FindTokenBytes(std::visit([](const auto& kind) { return SpellingsIn(kind); }, model_));
}

void Tokenizer::FindTokenBytes(const std::vector<std::string>& token_texts) {
  bytes_ = token_texts;
  for (const AddedToken& token : added_) {
    if (token.id >= vocab_size()) bytes_.resize(static_cast<size_t>(token.id) + 1);
    // One that is found in normalised text stands for what is there.
    const bool spelled = token.normalized && !decoding_.byte_level;
    bytes_[token.id] = spelled ? normalizer_.Apply(token.content) : token.content;
    added_by_content_[token.content] = token.id;
  }
  is_added_.resize(bytes_.size());
  for (const AddedToken& token : added_) is_added_[token.id] = true;
  is_byte_.resize(bytes_.size());
  if (decoding_.byte_level) return;
  if (decoding_.first_has_no_space) first_bytes_ = bytes_;
  for (size_t id = 0; id < bytes_.size(); ++id) {
    is_byte_[id] = decoding_.ByteOf(bytes_[id]).has_value();
    if (decoding_.first_has_no_space) first_bytes_[id] = decoding_.TextOf(bytes_[id], true);
    bytes_[id] = decoding_.TextOf(bytes_[id], false);
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
  std::vector<std::string> texts = std::move(parts.token_bytes);
  std::vector<Bpe::Merge> merges = std::move(parts.merges);
  if (parts.kind == Kind::kUnigram) {
    const Unigram::Options options{parts.unknowns.unknown, parts.unknowns.byte_fallback};
    HONE_ASSIGN_OR_RETURN(Unigram unigram,
                          Unigram::Create(std::move(texts), std::move(parts.scores), options));
    return Tokenizer(std::move(unigram), std::move(parts));
  }
  if (parts.kind == Kind::kWordPiece) {
    HONE_ASSIGN_OR_RETURN(WordPiece words,
                          WordPiece::Create(std::move(texts), std::move(parts.words)));
    return Tokenizer(std::move(words), std::move(parts));
  }
  if (parts.kind == Kind::kCharacterBpe) {
    Bpe bpe = Bpe::CreateOfCharacters(std::move(texts), std::move(merges), parts.ignore_merges,
                                      parts.unknowns);
    return Tokenizer(std::move(bpe), std::move(parts));
  }
  HONE_ASSIGN_OR_RETURN(Bpe bpe,
                        Bpe::Create(std::move(texts), std::move(merges), parts.ignore_merges));
  return Tokenizer(std::move(bpe), std::move(parts));
}

std::vector<TokenId> Tokenizer::Encode(std::string_view text) const {
  if (!IsUtf8(text)) return Encode(Utf8Lossy(text), {});
  return Encode(text, {});
}

std::vector<TokenId> Tokenizer::Encode(std::string_view text, std::span<const ByteRange> literal,
                                       const Reserved& reserved, TextFollows follows) const {
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
                  Overlaps(literal, at, end) ? no_marker : AddedTokenMatcher::Allowed(),
                  at == 0 ? follows : TextFollows::kAddedToken, &ids);
    if (!match) break;
    ids.push_back(match->token->id);
    at = match->end;
  }
  return ids;
}

TextFollows Tokenizer::Behind(std::span<const TokenId> ids) const {
  if (ids.empty()) return TextFollows::kNothing;
  return IsAdded(ids.back()) ? TextFollows::kAddedToken : TextFollows::kText;
}

bool Tokenizer::PutsSpaces() const {
  const auto& steps = normalizer_.steps();
  const auto& splits = splitter_.steps();
  return std::any_of(steps.begin(), steps.end(),
                     [](const NormalizeStep& step) {
                       return step.kind == NormalizeStep::Kind::kPrepend;
                     }) ||
         std::any_of(splits.begin(), splits.end(), [](const SplitStep& step) {
           return step.prefix != SplitStep::Prefix::kNever;
         });
}

// A stretch without added tokens of the first kind.
void Tokenizer::EncodeSegment(std::string_view segment, const AddedTokenMatcher::Allowed& allowed,
                              TextFollows follows, std::vector<TokenId>* ids) const {
  if (segment.empty()) return;
  std::string normalized;
  if (!normalizer_.steps().empty() && !(normalizer_.KeepsAscii() && IsAscii(segment))) {
    normalized = normalizer_.Apply(segment, follows != TextFollows::kText);
    segment = normalized;
  }
  if (normalized_matcher_.empty()) return EncodePlain(segment, follows, ids);
  size_t at = 0;
  while (at < segment.size()) {
    const auto match = normalized_matcher_.Find(segment, at, allowed);
    EncodePlain(segment.substr(at, (match ? match->begin : segment.size()) - at),
                at == 0 ? follows : TextFollows::kAddedToken, ids);
    if (!match) break;
    ids->push_back(match->token->id);
    at = match->end;
  }
}

void Tokenizer::EncodePlain(std::string_view text, TextFollows follows,
                            std::vector<TokenId>* ids) const {
  std::visit(
      [&](const auto& model) {
        splitter_.Split(
            text, [&](std::string_view piece) { model.Encode(piece, ids); }, follows);
      },
      model_);
}

std::string Tokenizer::Join(TokenId id, TextJoiner* joiner) const {
  const std::string_view bytes = TokenBytes(id);
  if (is_byte_[id]) return joiner->AddByte(bytes[0]);
  const bool first = joiner->empty() && decoding_.first_has_no_space;
  return joiner->AddText(first ? first_bytes_[id] : bytes);
}

std::string Tokenizer::Decode(std::span<const TokenId> ids) const {
  if (decoding_.byte_level) return Utf8Lossy(BytesOf(ids));
  TextJoiner joiner(decoding_);
  std::string text;
  for (const TokenId id : ids) text += Join(id, &joiner);
  return text + joiner.Finish();
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
  if (!tokenizer_->decoding_.byte_level) return tokenizer_->Join(id, &joiner_);
  pending_ += tokenizer_->TokenBytes(id);
  const size_t certain = pending_.size() - Utf8IncompleteSuffix(pending_);
  std::string text = Utf8Lossy(std::string_view(pending_).substr(0, certain));
  pending_.erase(0, certain);
  return text;
}

std::string StreamDecoder::Finish() {
  std::string text = Utf8Lossy(pending_) + joiner_.Finish();
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
