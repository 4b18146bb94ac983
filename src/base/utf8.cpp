#include "base/utf8.h"

namespace hone {
namespace {

struct Sequence {
  size_t length;  // bytes looked at that belong together (at least 1)
  bool valid;     // a whole character
  bool cut;       // ill-formed only because the text ends
};

uint8_t ByteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

// The character at `at`, or the maximal part of an ill-formed one (Unicode 15, table 3-7).
Sequence SequenceAt(std::string_view text, size_t at) {
  const uint8_t lead = ByteAt(text, at);
  if (lead < 0x80) return {1, true, false};
  size_t need = 0;
  uint8_t low = 0x80, high = 0xBF;  // bounds of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    need = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    need = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    need = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false, false};
  }
  for (size_t i = 1; i < need; ++i) {
    if (at + i >= text.size()) return {i, false, true};
    const uint8_t byte = ByteAt(text, at + i);
    if (byte < low || byte > high) return {i, false, false};
    low = 0x80, high = 0xBF;
  }
  return {need, true, false};
}

}  // namespace

size_t Utf8ValidPrefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Sequence sequence = SequenceAt(text, at);
    if (!sequence.valid) return at;
    at += sequence.length;
  }
  return at;
}

std::string Utf8Lossy(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const Sequence sequence = SequenceAt(bytes, at);
    if (sequence.valid) {
      text.append(bytes, at, sequence.length);
    } else {
      text += "\xEF\xBF\xBD";
    }
    at += sequence.length;
  }
  return text;
}

size_t Utf8IncompleteSuffix(std::string_view bytes) {
  const size_t longest = bytes.size() < 3 ? bytes.size() : 3;
  for (size_t back = 1; back <= longest; ++back) {
    const size_t at = bytes.size() - back;
    if ((ByteAt(bytes, at) & 0xC0) == 0x80) continue;  // a continuation byte: look further back
    const Sequence sequence = SequenceAt(bytes, at);
    return sequence.cut && sequence.length == back ? back : 0;
  }
  return 0;
}

void AppendUtf8(uint32_t code_point, std::string* out) {
  auto put = [out](uint32_t byte) { *out += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

uint32_t NextCodePoint(std::string_view text, size_t* position) {
  const uint8_t lead = ByteAt(text, (*position)++);
  if (lead < 0x80) return lead;
  const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  uint32_t code_point = lead & (0x3F >> more);
  for (int i = 0; i < more; ++i)
    code_point = code_point << 6 | (ByteAt(text, (*position)++) & 0x3F);
  return code_point;
}

}  // namespace hone
