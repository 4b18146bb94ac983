#pragma once

#include <string_view>

#include "base/result.h"
#include "text/jinja/jinja_ast.h"

namespace hone {

// Reads a template as Jinja 3.1 does with the extensions of Hugging Face's transformers: break,
// continue and {% generation %}. Errors (kParse) name line and column. What needs other templates
// (extends, include, import, block) is kUnsupported, as is nesting of more than some hundred
// levels.
Result<JinjaBody> ParseJinja(std::string_view source);

}  // namespace hone
