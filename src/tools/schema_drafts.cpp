#include "tools/schema_drafts.h"

#include <string_view>
#include <utility>

namespace hone {
namespace {

void MoveLimit(std::string_view limit, std::string_view exclusive, Json* schema) {
  const Json* flag = schema->Find(exclusive);
  if (flag == nullptr || !flag->is_bool()) return;
  const bool excludes = flag->AsBool();
  const Json* value = schema->Find(limit);
  Json moved = excludes && value != nullptr ? *value : Json();
  std::erase_if(schema->AsObject(), [&](const Json::Member& member) {
    return member.first == exclusive || (excludes && member.first == limit);
  });
  if (!moved.is_null()) schema->Set(exclusive, std::move(moved));
}

}  // namespace

namespace {

// An object of schemas by name, whatever their names are.
Json EachFromDraft4(const Json& schemas) {
  if (!schemas.is_object()) return FromDraft4(schemas);
  Json out = Json::Object();
  for (const auto& [name, schema] : schemas.AsObject()) out.Set(name, FromDraft4(schema));
  return out;
}

}  // namespace

Json FromDraft4(const Json& schema) {
  if (schema.is_array()) {
    Json::Array list;
    for (const Json& item : schema.AsArray()) list.push_back(FromDraft4(item));
    return Json(std::move(list));
  }
  if (!schema.is_object()) return schema;
  Json out = Json::Object();
  for (const auto& [key, value] : schema.AsObject()) {
    const bool is_value = key == "enum" || key == "const" || key == "default" || key == "examples";
    const bool by_name = key == "properties" || key == "patternProperties" ||
                         key == "definitions" || key == "dependencies";
    const bool is_id = key == "id" && value.is_string();
    out.Set(is_id ? "$id" : key, is_value  ? value
                                 : by_name ? EachFromDraft4(value)
                                           : FromDraft4(value));
  }
  MoveLimit("minimum", "exclusiveMinimum", &out);
  MoveLimit("maximum", "exclusiveMaximum", &out);
  return out;
}

}  // namespace hone
