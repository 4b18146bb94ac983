#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// The value of an arithmetic expression, in decimal numbers: exact where the result ends, else to
// 50 digits (tools/builtin/decimal.h).
//
//   + - * / // % ^ or **, parentheses, abs floor ceil round sqrt min max, pi, e
//
// % and // go with the floor, as in Python. The error says at which character, and what was
// expected there.
Result<std::string> Calculate(std::string_view expression);

}  // namespace hone
