#include "tools/spec_file.h"

#include <array>
#include <utility>

#include "base/file.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kForeignTypes = {{
    {"dict", "object"},
    {"float", "number"},
    {"double", "number"},
    {"tuple", "array"},
    {"list", "array"},
    {"int", "integer"},
    {"bool", "boolean"},
    {"str", "string"},
}};

// Where a schema has other schemas: one, a list of them, or a map to them.
constexpr std::array<std::string_view, 6> kInside = {
    "items", "additionalProperties", "anyOf", "oneOf", "allOf", "not"};
constexpr std::array<std::string_view, 3> kMaps = {"properties", "$defs", "definitions"};

// Turns foreign type names into JSON Schema's. Only where a schema stands: a property may well be
// named "type".
void Translate(Json* schema) {
  if (schema->is_array()) {
    for (Json& each : schema->AsArray()) Translate(&each);
  }
  if (!schema->is_object()) return;
  Json::Object& members = schema->AsObject();
  std::erase_if(members, [](const Json::Member& member) {
    return member.first == "type" && member.second == Json("any");
  });
  for (auto& [key, value] : members) {
    if (key == "type" && value.is_string()) {
      for (const auto& [foreign, own] : kForeignTypes) {
        if (value.AsString() == foreign) {
          value = Json(own);
          break;
        }
      }
    } else if (IsOneOf(key, kInside)) {
      Translate(&value);
    } else if (IsOneOf(key, kMaps) && value.is_object()) {
      for (auto& [name, inner] : value.AsObject()) Translate(&inner);
    }
  }
}

}  // namespace

Result<std::vector<ToolSpec>> SpecsFromForeignJson(const Json& json) {
  const Json* list = &json;
  for (const char* key : {"functions", "tools"}) {
    if (const Json* inside = json.Find(key)) list = inside;
  }
  // A single schema is a list of one.
  const Json single = list->is_object() ? Json(Json::Array{*list}) : Json();
  if (list->is_object()) list = &single;
  HONE_ASSIGN_OR_RETURN(std::vector<ToolSpec> specs, ToolSpecsFromJson(*list));
  for (ToolSpec& spec : specs) {
    Translate(&spec.parameters);
    HONE_RETURN_IF_ERROR(ArgumentChecker::For(spec));
  }
  return specs;
}

Result<std::vector<ToolSpec>> ReadSpecFile(const std::filesystem::path& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) {
    Result<std::vector<Json>> lines = ParseJsonLines(text);
    // The first error is about what most people mean.
    if (!lines.ok() || lines->size() < 2) return json.error().In(file.string());
    json = Json(*std::move(lines));
  }
  Result<std::vector<ToolSpec>> specs = SpecsFromForeignJson(*json);
  if (!specs.ok()) return specs.error().In(file.string());
  return specs;
}

}  // namespace hone
