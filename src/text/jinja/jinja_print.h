#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "text/jinja/jinja_run.h"
#include "text/jinja/jinja_value.h"

// Values as text, the way Python writes them.

namespace hone {

// What str() gives, and so what {{ }} prints. Text stays what it is; undefined is nothing.
Result<JinjaText> ToText(JinjaRun* run, const JinjaValue& value);
// What repr() gives.
Result<JinjaText> ToRepr(JinjaRun* run, const JinjaValue& value);

// The filter tojson as transformers define it, which is json.dumps.
struct JinjaJsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};
Result<JinjaText> ToJsonText(JinjaRun* run, const JinjaValue& value, const JinjaJsonStyle& style);

// Whether any text in it came from outside of the template.
bool HoldsForeign(const JinjaValue& value);

// repr of text: quotes and escapes.
std::string QuotedText(std::string_view text);
// str of a float.
std::string RealText(double value);

}  // namespace hone
