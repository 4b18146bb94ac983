#include "app/chat/line_buffer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "app/terminal.h"
#include "base/utf8.h"

namespace hone {
namespace {

constexpr char kEscape = '\x1b';

KeyKind ControlKey(char byte) {
  switch (byte) {
    case '\r':
    case '\n': return KeyKind::kEnter;
    case 1: return KeyKind::kHome;        // Ctrl-A
    case 2: return KeyKind::kLeft;        // Ctrl-B
    case 3: return KeyKind::kInterrupt;   // Ctrl-C
    case 4: return KeyKind::kEndOfInput;  // Ctrl-D
    case 5: return KeyKind::kEnd;         // Ctrl-E
    case 6: return KeyKind::kRight;       // Ctrl-F
    case 8:
    case 127: return KeyKind::kBackspace;
    case 11: return KeyKind::kKillToEnd;    // Ctrl-K
    case 12: return KeyKind::kClear;        // Ctrl-L
    case 14: return KeyKind::kDown;         // Ctrl-N
    case 16: return KeyKind::kUp;           // Ctrl-P
    case 21: return KeyKind::kKillToStart;  // Ctrl-U
    case 23: return KeyKind::kKillWord;     // Ctrl-W
    case 25: return KeyKind::kYank;         // Ctrl-Y
    default: return KeyKind::kUnknown;
  }
}

// What stands between ESC [ (or ESC O) and its end, with it: "A", "1~", "1;5C".
KeyKind SequenceKey(std::string_view sequence) {
  constexpr std::array<std::pair<std::string_view, KeyKind>, 18> kKeys{{
      {"A", KeyKind::kUp},
      {"B", KeyKind::kDown},
      {"C", KeyKind::kRight},
      {"D", KeyKind::kLeft},
      {"H", KeyKind::kHome},
      {"F", KeyKind::kEnd},
      {"1~", KeyKind::kHome},
      {"7~", KeyKind::kHome},
      {"4~", KeyKind::kEnd},
      {"8~", KeyKind::kEnd},
      {"3~", KeyKind::kDelete},
      {"1;5C", KeyKind::kWordRight},
      {"1;5D", KeyKind::kWordLeft},
      {"1;3C", KeyKind::kWordRight},
      {"1;3D", KeyKind::kWordLeft},
      {"5C", KeyKind::kWordRight},
      {"5D", KeyKind::kWordLeft},
      {"M", KeyKind::kEnter},
  }};
  for (const auto& [text, kind] : kKeys) {
    if (text == sequence) return kind;
  }
  return KeyKind::kUnknown;
}

std::optional<Key> TakeSequence(std::string* bytes, bool more) {
  const auto take = [&](size_t count, KeyKind kind) {
    bytes->erase(0, count);
    return Key{kind, ""};
  };
  if (bytes->size() == 1) {
    if (more) return std::nullopt;
    return take(1, KeyKind::kUnknown);
  }
  const char second = (*bytes)[1];
  if (second == 'b') return take(2, KeyKind::kWordLeft);
  if (second == 'f') return take(2, KeyKind::kWordRight);
  if (second == 127) return take(2, KeyKind::kKillWord);
  if (second != '[' && second != 'O') return take(2, KeyKind::kUnknown);
  for (size_t at = 2; at < bytes->size(); ++at) {
    const char byte = (*bytes)[at];
    if (byte < 0x40 || byte > 0x7e) continue;  // parameters
    return take(at + 1, SequenceKey(std::string_view(*bytes).substr(2, at - 1)));
  }
  if (more) return std::nullopt;
  return take(bytes->size(), KeyKind::kUnknown);
}

bool IsWordByte(char byte) {
  const auto unsigned_byte = static_cast<unsigned char>(byte);
  return unsigned_byte >= 0x80 || std::isalnum(unsigned_byte) != 0 || byte == '_';
}

}  // namespace

std::optional<Key> TakeKey(std::string* bytes, bool more) {
  if (bytes->empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes->front());
  if (bytes->front() == kEscape) return TakeSequence(bytes, more);
  if (first < 0x20 || first == 127) {
    const Key key{ControlKey(bytes->front()), ""};
    bytes->erase(0, 1);
    return key;
  }
  // Letters up to the next key; half a character waits for its other half.
  size_t end = 0;
  while (end < bytes->size() && static_cast<unsigned char>((*bytes)[end]) >= 0x20 &&
         (*bytes)[end] != 127) {
    ++end;
  }
  std::string text = bytes->substr(0, end);
  const size_t half = end == bytes->size() && more ? Utf8IncompleteSuffix(text) : 0;
  text.resize(text.size() - half);
  if (text.empty()) return std::nullopt;
  bytes->erase(0, text.size());
  return Key{KeyKind::kText, Utf8Lossy(text)};
}

size_t LineBuffer::After(size_t at) const {
  if (at >= text_.size()) return text_.size();
  NextCodePoint(text_, &at);
  // What takes no column belongs to the character before it.
  while (at < text_.size()) {
    size_t next = at;
    NextCodePoint(text_, &next);
    if (Columns(std::string_view(text_).substr(at, next - at)) > 0) break;
    at = next;
  }
  return at;
}

size_t LineBuffer::Before(size_t at) const {
  size_t before = 0;
  for (size_t next = 0; next < at; next = After(next)) before = next;
  return before;
}

size_t LineBuffer::WordBefore(size_t at) const {
  while (at > 0 && !IsWordByte(text_[at - 1])) --at;
  while (at > 0 && IsWordByte(text_[at - 1])) --at;
  return at;
}

size_t LineBuffer::WordAfter(size_t at) const {
  while (at < text_.size() && !IsWordByte(text_[at])) ++at;
  while (at < text_.size() && IsWordByte(text_[at])) ++at;
  return at;
}

void LineBuffer::Kill(size_t begin, size_t end) {
  if (begin == end) return;
  killed_ = text_.substr(begin, end - begin);
  text_.erase(begin, end - begin);
  cursor_ = begin;
}

void LineBuffer::Press(const Key& key) {
  const auto insert = [&](const std::string& text) {
    text_.insert(cursor_, text);
    cursor_ += text.size();
  };
  switch (key.kind) {
    case KeyKind::kText: return insert(key.text);
    case KeyKind::kYank: return insert(killed_);
    case KeyKind::kLeft: cursor_ = Before(cursor_); return;
    case KeyKind::kRight: cursor_ = After(cursor_); return;
    case KeyKind::kWordLeft: cursor_ = WordBefore(cursor_); return;
    case KeyKind::kWordRight: cursor_ = WordAfter(cursor_); return;
    case KeyKind::kHome: cursor_ = 0; return;
    case KeyKind::kEnd: cursor_ = text_.size(); return;
    case KeyKind::kBackspace: {
      const size_t begin = Before(cursor_);
      text_.erase(begin, cursor_ - begin);
      cursor_ = begin;
      return;
    }
    case KeyKind::kDelete: text_.erase(cursor_, After(cursor_) - cursor_); return;
    case KeyKind::kKillToEnd: return Kill(cursor_, text_.size());
    case KeyKind::kKillToStart: return Kill(0, cursor_);
    case KeyKind::kKillWord: {
      // As shells do: up to the blank before it.
      size_t begin = cursor_;
      while (begin > 0 && text_[begin - 1] == ' ') --begin;
      while (begin > 0 && text_[begin - 1] != ' ') --begin;
      return Kill(begin, cursor_);
    }
    default: return;
  }
}

LineWindow WindowOf(const LineBuffer& line, int columns) {
  const std::string& text = line.text();
  const auto width = [&](size_t begin, size_t end) {
    return Columns(Printable(std::string_view(text).substr(begin, end - begin)));
  };
  const auto next = [&](size_t at) {
    NextCodePoint(text, &at);
    return at;
  };
  // As far left as the cursor still fits, with a column for it.
  size_t begin = 0;
  while (begin < line.cursor() && width(begin, line.cursor()) >= columns) begin = next(begin);
  size_t end = line.cursor();
  while (end < text.size() && width(begin, next(end)) < columns) end = next(end);
  return {.shown = Printable(text.substr(begin, end - begin)),
          .cursor_column = width(begin, line.cursor())};
}

void LineHistory::Add(std::string line) {
  if (!line.empty() && (lines_.empty() || lines_.back() != line)) lines_.push_back(std::move(line));
  if (lines_.size() > most_) lines_.erase(lines_.begin());
  Rewind();
}

std::optional<std::string> LineHistory::Up(const std::string& current) {
  if (at_ == 0) return std::nullopt;
  if (at_ == lines_.size()) draft_ = current;
  return lines_[--at_];
}

std::optional<std::string> LineHistory::Down() {
  if (at_ >= lines_.size()) return std::nullopt;
  ++at_;
  return at_ == lines_.size() ? draft_ : lines_[at_];
}

}  // namespace hone
