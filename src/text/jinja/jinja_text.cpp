#include "text/jinja/jinja_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"

namespace hone {
namespace {

// As unsigned values, which is what the comparisons below mean.
utf8proc_category_t CategoryOf(uint32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

uint32_t Upper(uint32_t c) {
  return static_cast<uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}
uint32_t Lower(uint32_t c) {
  return static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}
uint32_t Title(uint32_t c) {
  return static_cast<uint32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
}

template <typename Function>
std::string Mapped(std::string_view text, Function function) {
  std::string mapped;
  mapped.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    AppendUtf8(function(NextCodePoint(text, &at)), &mapped);
  }
  return mapped;
}

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

JinjaText JinjaText::Foreign(std::string bytes) {
  JinjaText text(std::move(bytes));
  if (!text.empty()) text.foreign_.push_back({0, text.size()});
  return text;
}

JinjaText JinjaText::WithMarkup(bool markup) const {
  JinjaText text = *this;
  text.markup_ = markup;
  return text;
}

void JinjaText::Append(const JinjaText& text) {
  const size_t offset = bytes_.size();
  for (const ByteRange& range : text.foreign_) {
    if (!foreign_.empty() && foreign_.back().end == range.begin + offset) {
      foreign_.back().end = range.end + offset;
    } else {
      foreign_.push_back({range.begin + offset, range.end + offset});
    }
  }
  bytes_ += text.bytes_;
}

JinjaText JinjaText::Part(size_t begin, size_t end) const {
  JinjaText part(bytes_.substr(begin, end - begin));
  part.markup_ = markup_;
  for (const ByteRange& range : foreign_) {
    const size_t from = std::max(range.begin, begin), to = std::min(range.end, end);
    if (from < to) part.foreign_.push_back({from - begin, to - begin});
  }
  return part;
}

JinjaText JinjaText::Became(std::string bytes) const {
  return foreign_.empty() ? JinjaText(std::move(bytes)) : Foreign(std::move(bytes));
}

JinjaText EscapedForHtml(const JinjaText& text) {
  if (text.markup()) return text;
  JinjaText escaped;
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text.bytes()[at];
    const std::string_view name = c == '&'    ? "&amp;"
                                  : c == '<'  ? "&lt;"
                                  : c == '>'  ? "&gt;"
                                  : c == '"'  ? "&#34;"
                                  : c == '\'' ? "&#39;"
                                              : "";
    if (name.empty()) continue;
    escaped.Append(text.Part(begin, at));
    escaped.Append(name);
    begin = at + 1;
  }
  escaped.Append(text.Part(begin, text.size()));
  return escaped.WithMarkup(true);
}

size_t CountCharacters(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), IsContinuation));
}

size_t CharacterOffset(std::string_view text, size_t number) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!IsContinuation(text[at]) && number-- == 0) return at;
  }
  return at;
}

std::vector<size_t> CharacterOffsets(std::string_view text) {
  std::vector<size_t> offsets;
  offsets.reserve(text.size() + 1);
  for (size_t at = 0; at < text.size(); ++at) {
    if (!IsContinuation(text[at])) offsets.push_back(at);
  }
  offsets.push_back(text.size());
  return offsets;
}

bool IsPythonSpace(uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

ByteRange Stripped(std::string_view text, std::optional<std::string_view> characters,
                   StripSides sides) {
  const auto goes = [&](std::string_view character) {
    if (characters) return characters->find(character) != std::string_view::npos;
    size_t at = 0;
    return IsPythonSpace(NextCodePoint(character, &at));
  };
  size_t begin = 0, end = text.size();
  while (sides.left && begin < end) {
    size_t next = begin + 1;
    while (next < end && IsContinuation(text[next])) ++next;
    if (!goes(text.substr(begin, next - begin))) break;
    begin = next;
  }
  while (sides.right && begin < end) {
    size_t last = end - 1;
    while (last > begin && IsContinuation(text[last])) --last;
    if (!goes(text.substr(last, end - last))) break;
    end = last;
  }
  return {begin, end};
}

std::string UpperCase(std::string_view text) { return Mapped(text, Upper); }
std::string LowerCase(std::string_view text) { return Mapped(text, Lower); }

std::string Capitalized(std::string_view text) {
  bool first = true;
  return Mapped(text, [&](uint32_t c) {
    const uint32_t mapped = first ? Title(c) : Lower(c);
    first = false;
    return mapped;
  });
}

std::string TitleCase(std::string_view text) {
  bool inside = false;  // a run of letters
  return Mapped(text, [&](uint32_t c) {
    const bool cased = CaseOf(c) != LetterCase::kNone;
    const uint32_t mapped = !cased ? c : inside ? Lower(c) : Title(c);
    inside = cased;
    return mapped;
  });
}

LetterCase CaseOf(uint32_t character) {
  switch (CategoryOf(character)) {
    case UTF8PROC_CATEGORY_LU: return LetterCase::kUpper;
    case UTF8PROC_CATEGORY_LL: return LetterCase::kLower;
    case UTF8PROC_CATEGORY_LT: return LetterCase::kTitle;
    default: return LetterCase::kNone;
  }
}

bool IsLetter(uint32_t character) {
  const utf8proc_category_t category = CategoryOf(character);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool IsDecimal(uint32_t character) { return CategoryOf(character) == UTF8PROC_CATEGORY_ND; }

bool IsNumeric(uint32_t character) {
  const utf8proc_category_t category = CategoryOf(character);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool IsPrintable(uint32_t character) {
  if (character == ' ') return true;
  switch (CategoryOf(character)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    default: return true;
  }
}

}  // namespace hone
