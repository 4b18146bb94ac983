#pragma once

#include <string>

#include "base/json.h"

namespace hone {

// Literals of Java and JavaScript, written as text, as the Berkeley Function-Calling Leaderboard
// reads them: by the documented type, with a few search patterns. What does not have the form of
// its type, or is very long, stays a text.

// Type names of that benchmark's Java and JavaScript categories to those of its Python ones
// ("integer", "float", "string", "boolean", "array", "dict").
std::string PythonNameOfJava(const std::string& type);
std::string PythonNameOfJavaScript(const std::string& type);

// `element`: the documented type of elements, of arrays and lists; empty: it is not documented.
Json FromJava(const std::string& text, const std::string& type, const std::string& element);
Json FromJavaScript(const std::string& text, const std::string& type, const std::string& element);

}  // namespace hone
