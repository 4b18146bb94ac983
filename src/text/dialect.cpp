#include "text/dialect.h"

#include <algorithm>

namespace hone {

std::vector<TokenId> EncodePiece(const Tokenizer& tokenizer, const Piece& piece) {
  return tokenizer.Encode(piece.text, piece.literal);
}

void RecordTurn(const Tokenizer& tokenizer, const ParsedTurn& turn, Node* node) {
  node->calls.clear();
  node->faults.clear();
  int32_t taken = 0;
  for (const ParsedCall& call : turn.calls) {
    Span span = TokensCovering(tokenizer, node->tokens, call.range);
    // Where one token holds the end of a call and the beginning of the next, it is the first one's.
    span.begin = std::max(span.begin, taken);
    taken = span.end;
    node->calls.push_back({call.name, call.arguments, span});
  }
  for (const ParsedFault& fault : turn.faults) {
    node->faults.push_back(
        {fault.kind, fault.message, TokensCovering(tokenizer, node->tokens, fault.range)});
  }
}

std::string TextOf(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) text += piece.text;
  return text;
}

}  // namespace hone
