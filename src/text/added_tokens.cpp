#include "text/added_tokens.h"

#include <algorithm>
#include <functional>

#include <utf8proc.h>

#include "base/utf8.h"
#include "text/normalize.h"

namespace hone {
namespace {

bool IsWordChar(uint32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == '_' || (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME) ||
         category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_PC;
}

size_t StartOfCharBefore(std::string_view text, size_t at) {
  do {
    --at;
  } while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80);
  return at;
}

bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  size_t at = begin > 0 ? StartOfCharBefore(text, begin) : 0;
  if (begin > 0 && IsWordChar(NextCodePoint(text, &at))) return true;
  at = end;
  return end < text.size() && IsWordChar(NextCodePoint(text, &at));
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens,
                                     std::vector<std::string> spellings)
    : tokens_(std::move(tokens)) {
  for (size_t i = spellings.size(); i < tokens_.size(); ++i) {
    spellings.push_back(tokens_[i].content);
  }
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (spellings[i].empty()) continue;
    if (!by_spelling_.emplace(spellings[i], static_cast<int>(i)).second) continue;
    std::vector<size_t>& lengths = lengths_[static_cast<uint8_t>(spellings[i][0])];
    const size_t length = spellings[i].size();
    const auto place = std::lower_bound(lengths.begin(), lengths.end(), length, std::greater<>());
    if (place == lengths.end() || *place != length) lengths.insert(place, length);
  }
}

AddedTokenMatcher::Candidate AddedTokenMatcher::LongestAt(std::string_view text, size_t at,
                                                          const Allowed& allowed) const {
  for (const size_t length : lengths_[static_cast<uint8_t>(text[at])]) {
    if (length > text.size() - at) continue;
    const auto found = by_spelling_.find(text.substr(at, length));
    if (found == by_spelling_.end()) continue;
    const AddedToken& token = tokens_[found->second];
    if (allowed && !allowed(token, at, at + length)) continue;
    return {&token, at + length};
  }
  return {};
}

std::optional<AddedTokenMatcher::Match> AddedTokenMatcher::Find(std::string_view text, size_t from,
                                                                const Allowed& allowed) const {
  for (size_t at = from; at < text.size(); ++at) {
    if (lengths_[static_cast<uint8_t>(text[at])].empty()) continue;
    const auto [token, end] = LongestAt(text, at, allowed);
    if (token == nullptr) continue;
    if (token->single_word && TouchesWord(text, at, end)) {
      at = end - 1;  // a token that touches a word is passed over whole, and shorter ones with it
      continue;
    }
    Match match{at, end, token};
    while (token->lstrip && match.begin > from) {
      const size_t before = StartOfCharBefore(text, match.begin);
      size_t position = before;
      if (!IsWhiteSpace(NextCodePoint(text, &position))) break;
      match.begin = before;
    }
    while (token->rstrip && match.end < text.size()) {
      size_t position = match.end;
      if (!IsWhiteSpace(NextCodePoint(text, &position))) break;
      match.end = position;
    }
    return match;
  }
  return std::nullopt;
}

}  // namespace hone
