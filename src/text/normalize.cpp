#include "text/normalize.h"

#include <algorithm>
#include <vector>

#include <utf8proc.h>

#include "base/check.h"
#include "base/utf8.h"

namespace hone {
namespace {

int CombiningClass(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

// Canonical order: marks sorted by class behind their base. utf8proc does this by exchanging
// neighbours, which takes for ever on a long run of marks that somebody made up.
void SortMarks(std::vector<utf8proc_int32_t>* text) {
  auto at = text->begin();
  while (at != text->end()) {
    if (CombiningClass(*at) == 0) {
      ++at;
      continue;
    }
    const auto end =
        std::find_if(at, text->end(), [](utf8proc_int32_t c) { return CombiningClass(c) == 0; });
    std::stable_sort(at, end, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return CombiningClass(a) < CombiningClass(b);
    });
    at = end;
  }
}

}  // namespace

bool IsAscii(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
}

bool IsWhiteSpace(uint32_t code_point) {
  if (code_point >= 0x09 && code_point <= 0x0D) return true;
  if (code_point == 0x85) return true;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

std::string ToForm(UnicodeForm form, std::string_view text) {
  if (IsAscii(text)) return std::string(text);
  const bool compatible = form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (compatible ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> decomposed;
  decomposed.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<utf8proc_int32_t>(NextCodePoint(text, &at));
    utf8proc_int32_t parts[32];  // the longest decomposition has eighteen
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(c, parts, std::size(parts), options, nullptr);
    CHECK(count >= 0 && count <= static_cast<utf8proc_ssize_t>(std::size(parts)));
    decomposed.insert(decomposed.end(), parts, parts + count);
  }
  SortMarks(&decomposed);
  auto count = static_cast<utf8proc_ssize_t>(decomposed.size());
  if (form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc) {
    constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    count = utf8proc_normalize_utf32(decomposed.data(), count, kCompose);
    CHECK(count >= 0, utf8proc_errmsg(count));
  }
  std::string normalized;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    AppendUtf8(static_cast<uint32_t>(decomposed[static_cast<size_t>(i)]), &normalized);
  }
  return normalized;
}

std::string ToNfc(std::string_view text) { return ToForm(UnicodeForm::kNfc, text); }

}  // namespace hone
