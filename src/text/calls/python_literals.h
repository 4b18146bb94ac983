#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace hone {

// Reads values as Python writes them from the beginning of a text: texts in any quotes, whole and
// real numbers, True, False, None (and JSON's words for them), lists, tuples as lists, and
// dictionaries. Nothing is computed.
class PythonLiterals {
 public:
  PythonLiterals(std::string_view text, size_t at) : text_(text), at_(at) {}

  size_t at() const { return at_; }
  void MoveTo(size_t at) { at_ = at; }
  bool AtEnd() const { return at_ >= text_.size(); }
  void SkipBlanks();
  bool Skip(char c);

  // Nothing where no value can be read: cut() says whether more text could make one.
  std::optional<Json> Value(int depth = 0);
  // A name, with dots in it; empty when there is none.
  std::string_view Name();

  bool cut() const { return cut_; }

 private:
  std::optional<Json> Items(char close, int depth);
  std::optional<Json> Dictionary(int depth);
  std::optional<Json> Text();
  std::optional<Json> Number();
  bool Escape(std::string* value);
  // The end of the text came before the end of the value.
  std::nullopt_t Cut() { return cut_ = true, std::nullopt; }

  std::string_view text_;
  size_t at_;
  bool cut_ = false;
};

}  // namespace hone
