#pragma once

#include <string_view>

#include "base/result.h"
#include "text/jinja/jinja_run.h"
#include "text/jinja/jinja_value.h"

// What stands behind | and behind `is`.

namespace hone {

using JinjaFilter = JinjaFunction::Body;

// The filter of that name: Jinja's own, with tojson as transformers define it. Null when there is
// none. `random`, `urlize`, `xmlattr`, `wordwrap` and `pprint` are not here.
JinjaFilter FindJinjaFilter(std::string_view name);
JinjaFilter FindJinjaTextFilter(std::string_view name);      // those that make text and numbers
JinjaFilter FindJinjaSequenceFilter(std::string_view name);  // those that go through values

using JinjaTest = Result<bool> (*)(JinjaRun*, const JinjaValue&, const JinjaArguments&);

JinjaTest FindJinjaTest(std::string_view name);

// Errors that name what there is.
Error NoSuchFilter(std::string_view name);
Error NoSuchTest(std::string_view name);

}  // namespace hone
