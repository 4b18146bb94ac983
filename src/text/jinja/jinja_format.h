#pragma once

#include "base/result.h"
#include "text/jinja/jinja_run.h"
#include "text/jinja/jinja_value.h"

// Python's two ways to put values into text.

namespace hone {

// text % values: a tuple's items one after the other, a dict's members by name, or one value.
Result<JinjaValue> FormatPercent(JinjaRun* run, const JinjaText& text, const JinjaValue& values);

// text.format(...): {}, {0}, {name}, {0.member[item]}, with !r and !s and a format behind a colon.
Result<JinjaValue> FormatBraces(JinjaRun* run, const JinjaText& text,
                                const JinjaArguments& arguments);

}  // namespace hone
