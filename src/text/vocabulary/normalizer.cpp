#include "text/vocabulary/normalizer.h"

#include <algorithm>

#include <utf8proc.h>

#include "base/utf8.h"
#include "text/vocabulary/bert_text.h"

namespace hone {
namespace {

std::string Lowercase(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const uint32_t c = NextCodePoint(text, &at);
    if (c == 0x130) {  // the one character whose small form is two
      out += "i\xCC\x87";
    } else {
      AppendUtf8(static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), &out);
    }
  }
  return out;
}

std::string_view Stripped(std::string_view text, bool left, bool right) {
  size_t begin = 0, end = text.size();
  for (size_t at = 0; left && at < text.size() && IsWhiteSpace(NextCodePoint(text, &at));) {
    begin = at;
  }
  while (right && end > begin) {
    size_t start = end - 1;
    while (start > begin && (static_cast<uint8_t>(text[start]) & 0xC0) == 0x80) --start;
    size_t at = start;
    if (!IsWhiteSpace(NextCodePoint(text, &at))) break;
    end = start;
  }
  return text.substr(begin, end - begin);
}

bool IsMark(uint32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

std::string WithoutMarks(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const uint32_t c = NextCodePoint(text, &at);
    if (!IsMark(c)) AppendUtf8(c, &out);
  }
  return out;
}

// The normalisation of SentencePiece's "nmt" rules: control characters go, blanks become spaces.
std::string Nmt(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const uint32_t c = NextCodePoint(text, &at);
    const bool control = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
                         c == 0x7F || c == 0x8F || c == 0x9F;
    if (control) continue;
    const bool blank = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == 0xFFFD;
    AppendUtf8(blank ? ' ' : c, &out);
  }
  return out;
}

}  // namespace

std::string Normalizer::Apply(std::string_view text, bool prefixed) const {
  std::string now(text);
  for (const NormalizeStep& step : steps_) {
    switch (step.kind) {
      case NormalizeStep::Kind::kForm: now = ToForm(step.form, now); break;
      case NormalizeStep::Kind::kLowercase: now = Lowercase(now); break;
      case NormalizeStep::Kind::kStrip:
        now = std::string(Stripped(now, step.left, step.right));
        break;
      case NormalizeStep::Kind::kStripAccents: now = WithoutMarks(now); break;
      case NormalizeStep::Kind::kNmt: now = Nmt(now); break;
      case NormalizeStep::Kind::kPrepend:
        if (prefixed && !now.empty()) now = step.content + now;
        break;
      case NormalizeStep::Kind::kReplace: now = step.pattern->Replace(now, step.content); break;
      case NormalizeStep::Kind::kCharMap: now = step.char_map->Apply(now); break;
      case NormalizeStep::Kind::kClean: now = CleanedText(now); break;
      case NormalizeStep::Kind::kSpaceIdeographs: now = WithSpacedIdeographs(now); break;
      case NormalizeStep::Kind::kStripNonspacing: now = WithoutNonspacingMarks(now); break;
    }
  }
  return now;
}

bool Normalizer::KeepsAscii() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const NormalizeStep& step) {
    return step.kind == NormalizeStep::Kind::kForm;
  });
}

}  // namespace hone
