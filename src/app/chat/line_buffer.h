#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// One line that a person edits, and the keys that do it. Nothing here knows of a terminal.

namespace hone {

enum class KeyKind {
  kText,  // characters to put in
  kEnter,
  kLeft,
  kRight,
  kWordLeft,
  kWordRight,
  kHome,
  kEnd,
  kUp,
  kDown,
  kBackspace,
  kDelete,
  kKillToEnd,
  kKillToStart,
  kKillWord,
  kYank,  // what was killed last
  kClear,
  kInterrupt,   // Ctrl-C
  kEndOfInput,  // Ctrl-D
  kUnknown,     // does nothing
};

struct Key {
  KeyKind kind = KeyKind::kUnknown;
  std::string text;

  bool operator==(const Key&) const = default;
};

// Takes the first key off the bytes that a terminal sent; nothing when they are only the beginning
// of one. `more` says whether more may come at once: an escape that nothing follows is a key of its
// own.
std::optional<Key> TakeKey(std::string* bytes, bool more);

// The text is UTF-8; the cursor stands between characters, marks that combine with one included.
class LineBuffer {
 public:
  explicit LineBuffer(std::string text = "") : text_(std::move(text)), cursor_(text_.size()) {}

  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }  // in bytes

  // What a key does to the line; keys that do something else do nothing here.
  void Press(const Key& key);

 private:
  size_t Before(size_t at) const;  // where the character that ends at `at` begins
  size_t After(size_t at) const;
  size_t WordBefore(size_t at) const;
  size_t WordAfter(size_t at) const;
  void Kill(size_t begin, size_t end);

  std::string text_, killed_;
  size_t cursor_ = 0;
};

// What is shown of a line that is longer than the screen is wide: the part around the cursor.
struct LineWindow {
  std::string shown;
  int cursor_column = 0;  // in it
};
LineWindow WindowOf(const LineBuffer& line, int columns);

// Lines that were entered, walked with the arrows. What is being written is kept below the newest.
class LineHistory {
 public:
  // Lines that repeat the one before are left out, and all but the last `most` are forgotten.
  explicit LineHistory(size_t most = 1000) : most_(most) {}

  void Add(std::string line);
  const std::vector<std::string>& lines() const { return lines_; }

  // Begins at the bottom, below the newest.
  void Rewind() { at_ = lines_.size(); }
  // The line above or below; nothing where there is none. `current` is what stands there now.
  std::optional<std::string> Up(const std::string& current);
  std::optional<std::string> Down();

 private:
  const size_t most_;
  std::vector<std::string> lines_;
  size_t at_ = 0;
  std::string draft_;
};

}  // namespace hone
