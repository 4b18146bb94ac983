#pragma once

#include <string_view>

#include "text/jinja/jinja_run.h"

namespace hone {

// The method of that name of text, dicts, lists, tuples and numbers, as Python has it; null when
// there is none. Methods that change their value are none: the sandbox forbids them.
JinjaFunction::Body FindJinjaMethod(const JinjaValue& value, std::string_view name);

// The part for text.
JinjaFunction::Body FindJinjaTextMethod(std::string_view name);

}  // namespace hone
