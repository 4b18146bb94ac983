#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// The one member of the object that stands for a tuple of Python: {"(tuple)": [1, 2]}. JSON has
// none, and the rule of BFCL tells tuples from lists.
inline constexpr std::string_view kPythonTuple = "(tuple)";
// And of the object that stands for bytes or an imaginary number, with its source text.
inline constexpr std::string_view kPythonBytes = "(bytes)";

// Calls that a model wrote as Python, [f(a=1), g(b="x")], as the Berkeley Function-Calling
// Leaderboard reads them: [{"f": {"a": 1}}, {"g": {"b": "x"}}].
//
// Backticks, blanks and line ends around the text do not matter, nor missing square brackets.
// Positional arguments are passed over. A bare name is its text (true is "true"), the sign of a
// number always a minus (so does the leaderboard), arithmetic is computed, a call inside an
// argument is {"name": {...}}, or its source text when it has no keywords; subscripts are their
// source text. Everything else (attributes, comparisons, f-strings, lambdas, ...) cannot be read.
// Keys of dictionaries that are no texts are written as Python would, in angle brackets. Arithmetic
// is computed in 64 bits; a larger result cannot be read.
//
// An error: the text is not in this form.
Result<Json> PythonCallsFromText(std::string_view text);

}  // namespace hone
