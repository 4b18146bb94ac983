#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// A word of Python's grammar.
struct PythonToken {
  enum class Kind {
    kName,     // also keywords
    kInteger,  // value
    kReal,     // value
    kString,   // value
    kBytes,    // a literal that JSON has no value for: bytes, imaginary numbers; text: as written
    kFormat,   // an f-string
    kSymbol,
    kNewline,  // outside of brackets
    kEnd,
  };

  Kind kind = Kind::kEnd;
  std::string text;  // of names and symbols
  Json value;
  size_t begin = 0, end = 0;  // bytes of the source
};

// The last token is kEnd. An error where Python's own tokenizer has one; see
// ParsePythonExpression for what else is not read. Brackets are not matched, only counted.
Result<std::vector<PythonToken>> PythonTokens(std::string_view source);

// Words that are no names: "from", "class", "True", ...
bool IsPythonKeyword(std::string_view word);

}  // namespace hone
