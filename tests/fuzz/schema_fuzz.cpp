// Any JSON as a schema and any JSON as a value, apart by a byte that no UTF-8 has: compiled or
// refused, checked in bounded time, and with problems that say something.

#include <cstdint>

#include "base/check.h"
#include "tools/json_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\xFE');
  const auto schema = hone::ParseJson(text.substr(0, cut));
  if (!schema.ok()) return 0;
  const auto value = cut == std::string_view::npos ? schema : hone::ParseJson(text.substr(cut + 1));
  if (!value.ok()) return 0;
  for (const auto draft : {hone::SchemaDraft::kDraft7, hone::SchemaDraft::kDraft2020}) {
    const auto compiled = hone::JsonSchema::Compile(*schema, {draft, true});
    if (!compiled.ok()) {
      CHECK(!compiled.error().message().empty());
      continue;
    }
    const auto problems = compiled->Check(*value);
    CHECK(problems.size() <= 20);
    for (const auto& problem : problems) CHECK(!problem.Text().empty());
    CHECK(compiled->Check(*value).size() == problems.size());
  }
  return 0;
}
