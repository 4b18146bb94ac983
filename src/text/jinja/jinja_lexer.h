#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// A place in a template, both counted from 1; columns are characters.
struct JinjaPlace {
  int line = 1;
  int column = 1;
};

struct JinjaToken {
  enum class Kind {
    kData,  // text between tags
    kPrintBegin,
    kPrintEnd,
    kTagBegin,
    kTagEnd,
    kName,
    kString,
    kInteger,
    kReal,
    kOperator,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;  // data and strings as they are meant, operators and names as they are written
  Json number;       // of kInteger and kReal
  JinjaPlace place;

  bool Is(Kind k, std::string_view t) const { return kind == k && text == t; }
  bool IsName(std::string_view name) const { return Is(Kind::kName, name); }
  bool IsOperator(std::string_view op) const { return Is(Kind::kOperator, op); }
};

// Cuts a template into tokens, as Jinja does with trim_blocks and lstrip_blocks, which is how
// Hugging Face's transformers set it up: the line break behind a tag goes, blanks before a tag that
// begins its line go, `-` takes all white space away and `+` keeps it. One line break at the very
// end goes. The last token is kEnd. Errors (kParse) name line and column.
Result<std::vector<JinjaToken>> LexJinja(std::string_view source);

// "line 3, column 7: problem"
Error JinjaErrorAt(JinjaPlace place, std::string_view problem, ErrorCode code = ErrorCode::kParse);

}  // namespace hone
