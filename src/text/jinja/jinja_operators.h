#pragma once

#include <string_view>

#include "base/result.h"
#include "text/jinja/jinja_run.h"
#include "text/jinja/jinja_value.h"

// Operators as Python has them.

namespace hone {

// + - * / // % **, on numbers, text, lists and tuples. Whole numbers beyond 64 bits are an error.
Result<JinjaValue> Arithmetic(JinjaRun* run, std::string_view op, const JinjaValue& left,
                              const JinjaValue& right);
Result<JinjaValue> Negative(const JinjaValue& value);
Result<JinjaValue> Positive(const JinjaValue& value);
// == != < <= > >= in "not in"
Result<bool> Compare(JinjaRun* run, std::string_view op, const JinjaValue& left,
                     const JinjaValue& right);
// left in right
Result<bool> Contains(JinjaRun* run, const JinjaValue& item, const JinjaValue& container);

}  // namespace hone
