#include "text/added_tokens.h"

#include <algorithm>

#include <utf8proc.h>

#include "base/utf8.h"

namespace hone {
namespace {

bool IsSpaceChar(uint32_t c) {
  if (c >= 0x09 && c <= 0x0D) return true;
  if (c == 0x85) return true;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

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

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  for (size_t i = 0; i < tokens_.size(); ++i) {
    by_first_byte_[static_cast<uint8_t>(tokens_[i].content[0])].push_back(static_cast<int>(i));
  }
  for (std::vector<int>& candidates : by_first_byte_) {
    std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
      return tokens_[a].content.size() > tokens_[b].content.size();
    });
  }
}

const AddedToken* AddedTokenMatcher::LongestAt(std::string_view text, size_t at,
                                               const Allowed& allowed) const {
  for (const int index : by_first_byte_[static_cast<uint8_t>(text[at])]) {
    const AddedToken& token = tokens_[index];
    const size_t end = at + token.content.size();
    if (text.substr(at, token.content.size()) != token.content) continue;
    if (token.single_word && TouchesWord(text, at, end)) continue;
    if (allowed && !allowed(token, at, end)) continue;
    return &token;
  }
  return nullptr;
}

std::optional<AddedTokenMatcher::Match> AddedTokenMatcher::Find(std::string_view text, size_t from,
                                                                const Allowed& allowed) const {
  for (size_t at = from; at < text.size(); ++at) {
    if (by_first_byte_[static_cast<uint8_t>(text[at])].empty()) continue;
    const AddedToken* token = LongestAt(text, at, allowed);
    if (token == nullptr) continue;
    Match match{at, at + token->content.size(), token};
    while (token->lstrip && match.begin > from) {
      const size_t before = StartOfCharBefore(text, match.begin);
      size_t position = before;
      if (!IsSpaceChar(NextCodePoint(text, &position))) break;
      match.begin = before;
    }
    while (token->rstrip && match.end < text.size()) {
      size_t position = match.end;
      if (!IsSpaceChar(NextCodePoint(text, &position))) break;
      match.end = position;
    }
    return match;
  }
  return std::nullopt;
}

}  // namespace hone
