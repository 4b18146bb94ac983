// Any text as calls in Python, as an expression, and as values of Java and JavaScript.

#include <cstdint>

#include "base/check.h"
#include "evaluate/suites/bfcl_check.h"
#include "evaluate/suites/foreign_values.h"
#include "evaluate/suites/python_calls.h"
#include "evaluate/suites/python_expression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto calls = hone::PythonCallsFromText(text); calls.ok()) {
    for (const hone::Json& call : calls->AsArray()) {
      CHECK(call.is_object() && call.AsObject().size() == 1);
      CHECK(call.AsObject()[0].second.is_object());
    }
    CHECK(hone::CheckBfclRelevance(true, *calls).valid == !calls->AsArray().empty());
  }
  // What is written again is the same expression.
  if (const auto parsed = hone::ParsePythonExpression(text); parsed.ok()) {
    const std::string source = hone::PythonSource(*parsed);
    if (const auto again = hone::ParsePythonExpression(source); again.ok()) {
      CHECK(hone::PythonSource(*again) == source);
    }
  }
  for (const char* type : {"integer", "double", "ArrayList", "Array", "HashMap", "String"}) {
    hone::FromJava(text, type, "String");
  }
  for (const char* type : {"integer", "float", "Bigint", "array", "dict", "String"}) {
    hone::FromJavaScript(text, type, "integer");
  }
  return 0;
}
