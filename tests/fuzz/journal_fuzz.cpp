// Any bytes as lines to import and as text with secrets: what is a call writes back to the same
// line; redacting neither crashes nor makes JSON into something else.

#include <cstdint>

#include "base/check.h"
#include "base/utf8.h"
#include "tools/journal/journal_json.h"
#include "tools/journal/redact.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const hone::Redactor redactor =
      hone::Redactor::Create(hone::RedactionOptions::Default()).value();
  const std::string redacted = redactor.Content(std::string(text));
  CHECK(hone::IsUtf8(redacted));

  const auto json = hone::ParseJson(text);
  if (!json.ok()) return 0;
  const hone::Json arguments = redactor.Arguments(*json);
  const auto reread = hone::ParseJson(hone::DumpJson(arguments));
  CHECK(reread.ok() && *reread == arguments);
  if (json->is_object()) CHECK(hone::ParseJson(redacted).ok());

  const auto line = hone::JournalLineFromJson(*json);
  if (!line.ok()) return 0;
  const auto spelled = [](const auto& call) { return hone::JournalLineToJson(call); };
  const hone::Json written = std::visit(spelled, *line);
  const auto again = hone::JournalLineFromJson(written);
  CHECK(again.ok() && *again == *line);
  CHECK(hone::DumpJson(std::visit(spelled, *again)) == hone::DumpJson(written));
  return 0;
}
