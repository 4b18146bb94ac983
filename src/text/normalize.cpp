#include "text/normalize.h"

#include <algorithm>
#include <iterator>
#include <utility>
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

// Marks and compatibility characters that are younger than Unicode 9, whose tables Hugging Face's
// tokenizers normalise by: to them these characters are nothing special.
constexpr std::pair<uint32_t, uint32_t> kYoungCharacters[] = {
    {0x7FD, 0x7FD},     {0x897, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
    {0xC3C, 0xC3C},     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},
    {0x1ABF, 0x1ADD},   {0x1AE0, 0x1AEB},   {0x1DF6, 0x1DFA},   {0x32FF, 0x32FF},
    {0xA7F1, 0xA7F4},   {0xA82C, 0xA82C},   {0xAB69, 0xAB69},   {0x10781, 0x10785},
    {0x10787, 0x107B0}, {0x107B2, 0x107BA}, {0x10D24, 0x10D27}, {0x10D69, 0x10D6D},
    {0x10EAB, 0x10EAC}, {0x10EFA, 0x10EFB}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50},
    {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x113CE, 0x113D0},
    {0x1145E, 0x1145E}, {0x11839, 0x1183A}, {0x1193D, 0x1193E}, {0x11943, 0x11943},
    {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99},
    {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x11F41, 0x11F42},
    {0x1612F, 0x1612F}, {0x16FF0, 0x16FF1}, {0x1CCD6, 0x1CCF9}, {0x1E030, 0x1E06D},
    {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF},
    {0x1E4EC, 0x1E4EF}, {0x1E5EE, 0x1E5EF}, {0x1E6E3, 0x1E6E3}, {0x1E6E6, 0x1E6E6},
    {0x1E6EE, 0x1E6EF}, {0x1E6F5, 0x1E6F5}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};

bool IsYoung(uint32_t c) {
  if (c < kYoungCharacters[0].first) return false;
  const auto* const range =
      std::lower_bound(std::begin(kYoungCharacters), std::end(kYoungCharacters), c,
                       [](const auto& known, uint32_t wanted) { return known.second < wanted; });
  return range != std::end(kYoungCharacters) && range->first <= c;
}

std::string StretchInForm(UnicodeForm form, std::string_view text);

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
  std::string normalized;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (!IsYoung(NextCodePoint(text, &at))) continue;
    normalized += StretchInForm(form, text.substr(begin, start - begin));
    normalized += text.substr(start, at - start);
    begin = at;
  }
  return normalized + StretchInForm(form, text.substr(begin));
}

namespace {

std::string StretchInForm(UnicodeForm form, std::string_view text) {
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

}  // namespace

std::string ToNfc(std::string_view text) { return ToForm(UnicodeForm::kNfc, text); }

}  // namespace hone
