#include "text/reserved_tokens.h"

#include <utf8proc.h>

#include "base/utf8.h"
#include "text/dialect.h"

namespace hone {
namespace {

// Letters, digits and white space alone.
bool IsWordsOrBlank(std::string_view token) {
  for (size_t at = 0; at < token.size();) {
    const auto character = static_cast<utf8proc_int32_t>(NextCodePoint(token, &at));
    const utf8proc_category_t category = utf8proc_category(character);
    if (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO) return false;
  }
  return true;
}

// <|...|>, also with wide bars: what no dialect writes by chance, and nobody else should.
bool IsControlMark(std::string_view token) {
  const bool opens = token.starts_with("<|") || token.starts_with("<｜");
  return opens && (token.ends_with("|>") || token.ends_with("｜>"));
}

}  // namespace

void ReservedTokens::ReserveAllIn(std::string_view text) {
  written_ += text;
  written_ += '\0';  // no token reaches across two texts
}

void ReservedTokens::ReserveForPolicy(const TurnMarks& marks) {
  std::vector<std::string> own = {marks.think_open, marks.think_close, marks.answer_open,
                                  marks.answer_close};
  for (const std::string& open : marks.call_opens) {
    own.push_back(open);
    if (open.starts_with('<')) own.push_back("</" + open.substr(1));
  }
  for (const std::string& token : own) {
    Reserve(token);
    of_policy_.insert(token);
  }
}

bool ReservedTokens::Has(std::string_view token, Author author) const {
  if (author == Author::kPolicy && of_policy_.contains(token)) return false;
  if (listed_.contains(token) || IsControlMark(token)) return true;
  return !IsWordsOrBlank(token) && written_.find(token) != std::string::npos;
}

}  // namespace hone
