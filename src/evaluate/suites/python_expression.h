#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// One expression of Python, as far as text that models write for calls needs it.
struct PythonNode {
  enum class Kind {
    kConstant,   // value: null, a boolean, a number or a text
    kBytes,      // a constant that JSON has no value for; text: as written
    kEllipsis,   // ...
    kName,       // text
    kAttribute,  // children[0] . text
    kSubscript,  // children[0] [ children[1] ]
    kCall,       // children[0] ( the other children, keywords )
    kList,       // children
    kTuple,      // children
    kSet,        // children
    kDict,       // children: key, value, key, value
    kUnary,      // text ("-", "+", "~", "not") children[0]
    kBinary,     // children[0] text children[1]; arithmetic only
    kStarred,    // * children[0], or ** children[0] as the key of nothing
    kOther,      // anything else (comparisons, lambdas, comprehensions, f-strings, ...)
  };

  Kind kind = Kind::kOther;
  Json value;
  std::string text;  // of kOther: the source
  std::vector<PythonNode> children;
  // Of a call, in the order written: the names (empty for **x), and as many values.
  std::vector<std::string> keywords;
  std::vector<PythonNode> values;
};

// The expression that the whole text is, by Python's grammar for `eval` (expressions separated by
// commas are a tuple). What is not such an expression is an error. Not read, and so errors, though
// Python takes them: escapes by the name of a character (\N{...}), and brackets nested more than
// 100 deep. The inside of f-strings and of lambdas' parameters is not looked at.
Result<PythonNode> ParsePythonExpression(std::string_view text);

// The source text that Python's ast.unparse gives for it: one blank around operators, texts in
// single quotes where possible, no brackets that are not needed. kOther as it was written.
std::string PythonSource(const PythonNode& node);

}  // namespace hone
