#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

// Text inside a chat template that is being run.

namespace hone {

// UTF-8 that knows which of its bytes are foreign: came out of messages and tools, not out of the
// template. It keeps that through everything templates do to text, so that a marker which somebody
// wrote into a message can be told from the template's own. A plain value.
class JinjaText {
 public:
  JinjaText() = default;
  explicit JinjaText(std::string own) : bytes_(std::move(own)) {}
  static JinjaText Foreign(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  std::string_view view() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size(); }
  // Ascending, apart from each other, none empty.
  const std::vector<ByteRange>& foreign() const { return foreign_; }

  // Whether it counts as escaped for HTML ("|safe").
  bool markup() const { return markup_; }
  JinjaText WithMarkup(bool markup) const;

  void Append(const JinjaText& text);
  void Append(std::string_view own) { bytes_ += own; }
  // A part by bytes, which begins and ends between characters.
  JinjaText Part(size_t begin, size_t end) const;
  JinjaText Part(ByteRange range) const { return Part(range.begin, range.end); }
  // What became of this text where places were not kept (upper case, JSON): foreign all through if
  // any of this is.
  JinjaText Became(std::string bytes) const;

 private:
  std::string bytes_;
  std::vector<ByteRange> foreign_;
  bool markup_ = false;
};

// With & < > " ' as HTML writes them; what counts as escaped stays. Both count as escaped then.
JinjaText EscapedForHtml(const JinjaText& text);

// --- characters, which are code points as in Python; the text is UTF-8 ---------------------------

size_t CountCharacters(std::string_view text);
// Where the character of that number begins; the text's size for the one behind the last.
size_t CharacterOffset(std::string_view text, size_t number);
// Begins of all characters, and the text's size behind them.
std::vector<size_t> CharacterOffsets(std::string_view text);

// What str.isspace says.
bool IsPythonSpace(uint32_t character);

// What is left when characters are taken off the ends: white space, or those of `characters`.
struct StripSides {
  bool left = true;
  bool right = true;
};
ByteRange Stripped(std::string_view text, std::optional<std::string_view> characters,
                   StripSides sides);

// Case as Python has it, except that a character never becomes several.
std::string UpperCase(std::string_view text);
std::string LowerCase(std::string_view text);
// First character upper, the rest lower.
std::string Capitalized(std::string_view text);
// Every run of letters capitalised.
std::string TitleCase(std::string_view text);

enum class LetterCase { kNone, kUpper, kLower, kTitle };
LetterCase CaseOf(uint32_t character);
bool IsLetter(uint32_t character);   // str.isalpha
bool IsDecimal(uint32_t character);  // str.isdecimal
bool IsNumeric(uint32_t character);  // any number: str.isnumeric
// Whether repr shows the character as it is.
bool IsPrintable(uint32_t character);

}  // namespace hone
