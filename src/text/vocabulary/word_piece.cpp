#include "text/vocabulary/word_piece.h"

#include <algorithm>

#include "base/utf8.h"

namespace hone {

Result<WordPiece> WordPiece::Create(std::vector<std::string> token_texts, Options options) {
  if (options.unknown < 0 || options.unknown >= static_cast<TokenId>(token_texts.size())) {
    return Error(ErrorCode::kInvalidArgument, "a WordPiece model without unk_token");
  }
  WordPiece model;
  model.token_texts_ = std::move(token_texts);
  model.options_ = std::move(options);
  const std::string& prefix = model.options_.prefix;
  for (size_t i = 0; i < model.token_texts_.size(); ++i) {
    const std::string_view text = model.token_texts_[i];
    if (text.empty()) continue;
    const auto id = static_cast<TokenId>(i);
    model.first_.emplace(text, id);
    model.longest_first_ = std::max(model.longest_first_, text.size());
    if (!text.starts_with(prefix) || text.size() == prefix.size()) continue;
    model.later_.emplace(text.substr(prefix.size()), id);
    model.longest_later_ = std::max(model.longest_later_, text.size() - prefix.size());
  }
  return model;
}

WordPiece::Found WordPiece::LongestIn(const IdsByText& tokens, size_t longest,
                                      std::string_view text) {
  for (size_t length = std::min(longest, text.size()); length > 0; --length) {
    // Only whole characters.
    if (length < text.size() && (static_cast<uint8_t>(text[length]) & 0xC0) == 0x80) continue;
    const auto found = tokens.find(text.substr(0, length));
    if (found != tokens.end()) return {length, found->second};
  }
  return {};
}

void WordPiece::Encode(std::string_view word, std::vector<TokenId>* ids) const {
  const size_t before = ids->size();
  const auto characters = std::count_if(
      word.begin(), word.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
  size_t at = 0;
  while (characters <= options_.most_characters && at < word.size()) {
    const Found found = at == 0 ? LongestIn(first_, longest_first_, word)
                                : LongestIn(later_, longest_later_, word.substr(at));
    if (found.length == 0) break;
    ids->push_back(found.id);
    at += found.length;
  }
  if (at == word.size()) return;
  ids->resize(before);
  ids->push_back(options_.unknown);
}

}  // namespace hone
