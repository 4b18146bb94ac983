#include "text/dialect.h"

#include <algorithm>
#include <map>

namespace hone {

std::vector<TokenId> EncodePiece(const Tokenizer& tokenizer, const Piece& piece,
                                 std::span<const TokenId> before) {
  const TextFollows follows = tokenizer.Behind(before);
  if (piece.reserved == nullptr) {
    return tokenizer.Encode(piece.text, piece.literal, nullptr, follows);
  }
  std::map<TokenId, bool> known;  // a text can hold one marker a million times
  const auto reserved = [&](const AddedToken& token, size_t begin, size_t end) {
    const bool ours = std::any_of(
        piece.own_words.begin(), piece.own_words.end(),
        [&](const ByteRange& range) { return range.begin <= begin && end <= range.end; });
    if (ours) return false;
    const auto [entry, is_new] = known.emplace(token.id, false);
    if (is_new) entry->second = piece.reserved->Has(token.content, piece.author);
    return entry->second;
  };
  return tokenizer.Encode(piece.text, piece.literal, reserved, follows);
}

std::vector<TokenId> EncodePieceAt(const Tokenizer& tokenizer, std::span<const Piece> pieces,
                                   size_t index) {
  // Only the last token before the piece counts, and only for vocabularies that put spaces.
  std::vector<TokenId> before;
  for (size_t i = index; i > 0 && before.empty() && tokenizer.PutsSpaces(); --i) {
    before = EncodePiece(tokenizer, pieces[i - 1]);
  }
  return EncodePiece(tokenizer, pieces[index], before);
}

std::vector<AddedToken> AddedTokensOf(const DialectTraits& traits) {
  std::vector<AddedToken> added;
  for (size_t i = 0; i < traits.markers.size(); ++i) {
    AddedToken token;
    token.content = traits.markers[i];
    token.special = i < traits.specials;
    added.push_back(std::move(token));
  }
  return added;
}

ReservedTokens ReservedBy(const DialectTraits& traits) {
  ReservedTokens reserved;
  for (const std::string& marker : traits.markers) reserved.Reserve(marker);
  for (const std::string& stop : traits.stops) reserved.Reserve(stop);
  reserved.ReserveForPolicy(traits.marks);
  return reserved;
}

void RecordTurn(const Tokenizer& tokenizer, const ParsedTurn& turn, Node* node) {
  const TokenOffsets offsets(tokenizer, node->tokens);
  node->calls.clear();
  node->faults.clear();
  int32_t taken = 0;
  for (const ParsedCall& call : turn.calls) {
    Span span = offsets.Covering(call.range);
    // Where one token holds the end of a call and the beginning of the next, it is the first one's.
    span.begin = std::max(span.begin, taken);
    taken = span.end;
    node->calls.push_back({call.name, call.arguments, span});
  }
  for (const ParsedFault& fault : turn.faults) {
    node->faults.push_back({fault.kind, fault.message, offsets.Covering(fault.range)});
  }
  node->thoughts.clear();
  int32_t thought = 0;
  for (const ByteRange& range : turn.thoughts) {
    Span span = offsets.Covering(range);
    span.begin = std::max(span.begin, thought);
    // A token that holds the end of a thought and the beginning of a call is the call's.
    for (const Call& call : node->calls) {
      if (call.span.begin > span.begin) span.end = std::min(span.end, call.span.begin);
    }
    if (span.empty()) continue;
    thought = span.end;
    node->thoughts.push_back(span);
  }
  // What the reader takes for no thought was not one that was closed.
  const auto thoughts = static_cast<int32_t>(node->thoughts.size());
  node->closed_thoughts = std::min(node->closed_thoughts, thoughts);
}

std::vector<TokenId> EncodePieces(const Tokenizer& tokenizer, const std::vector<Piece>& pieces) {
  std::vector<TokenId> ids;
  for (const Piece& piece : pieces) {
    const std::vector<TokenId> more = EncodePiece(tokenizer, piece, ids);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  return ids;
}

std::string TextOf(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) text += piece.text;
  return text;
}

}  // namespace hone
