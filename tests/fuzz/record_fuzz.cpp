// Any bytes as JSON and as a tree: what parses writes back to the same value; what is valid
// survives the store's codec.

#include <cstdint>

#include "base/check.h"
#include "record/array_codec.h"
#include "record/record_json.h"
#include "record/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hone::Tree into;
  into.nodes.resize(1);
  (void)hone::DecodeTreeArrays(text, &into).ok();
  (void)hone::DecodeAdvantages(text).ok();

  const auto json = hone::ParseJson(text);
  const hone::JsonPrefix prefix = hone::ParseJsonPrefix(text);
  if (!json.ok()) return 0;
  CHECK(prefix.value.has_value());
  for (const auto style : {hone::JsonStyle::kCompact, hone::JsonStyle::kCanonical,
                           hone::JsonStyle::kSpaced, hone::JsonStyle::kPretty}) {
    const auto again = hone::ParseJson(hone::DumpJson(*json, style));
    CHECK(again.ok() && *again == *json);
  }
  const auto record = hone::RecordFromJson(*json);
  if (!record.ok()) return 0;
  const auto again = hone::RecordFromJson(hone::RecordToJson(*record));
  if (!hone::Validate(*record).empty()) return 0;
  CHECK(again.ok() && *again == *record);
  hone::Tree tree = record->tree;
  CHECK(hone::DecodeTreeArrays(hone::EncodeTreeArrays(record->tree), &tree).ok());
  CHECK(tree == record->tree);
  return 0;
}
