#include "tools/openapi/openapi_schema.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/strings.h"
#include "tools/uri.h"

namespace hone {
namespace {

constexpr int kMaxFollowed = 32;
// Of one schema, written out. A tool that large could not be shown to a model anyway.
constexpr int kMaxNodes = 20000;
constexpr size_t kDeepestOpenapi = 200;

// Keywords whose value is a schema, a list of schemas, or a map of names to schemas.
constexpr std::array<std::string_view, 8> kSchema = {
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"};
constexpr std::array<std::string_view, 4> kSchemaList = {"allOf", "anyOf", "oneOf", "prefixItems"};
constexpr std::array<std::string_view, 4> kSchemaMap = {"properties", "patternProperties", "$defs",
                                                        "dependentSchemas"};
constexpr std::array<std::string_view, 6> kLeftOut = {"xml",      "example",      "discriminator",
                                                      "nullable", "externalDocs", "deprecated"};

constexpr std::array<std::string_view, 11> kNumbers = {
    "minimum",   "maximum",  "exclusiveMinimum", "exclusiveMaximum", "multipleOf",   "minLength",
    "maxLength", "minItems", "maxItems",         "minProperties",    "maxProperties"};

// A number that was written as a text, as documents made by hand and by generators have it.
void MendNumber(Json* value) {
  if (!value->is_string()) return;
  const Result<Json> number = ParseJson(value->AsString());
  if (number.ok() && number->is_number()) *value = *number;
}

// Real documents have "minimum": "0". What can only be meant in one way is read so.
void Mend(Json* schema) {
  const Json* type = schema->Find("type");
  const bool number = type != nullptr && (*type == Json("integer") || *type == Json("number"));
  for (auto& [key, value] : schema->AsObject()) {
    if (IsOneOf(key, kNumbers) || (number && key == "default")) MendNumber(&value);
    if (number && key == "enum" && value.is_array()) {
      for (Json& choice : value.AsArray()) MendNumber(&choice);
    }
  }
}

// 3.0: a bound that is excluded is marked by a boolean beside it.
void TranslateBound(const char* bound, const char* exclusive, Json* schema) {
  const Json* mark = schema->Find(exclusive);
  if (mark == nullptr || !mark->is_bool()) return;
  const bool excluded = mark->AsBool();
  const Json* value = schema->Find(bound);
  const Json number = value != nullptr ? *value : Json();
  std::erase_if(schema->AsObject(), [&](const Json::Member& member) {
    return member.first == exclusive || (excluded && member.first == bound);
  });
  if (excluded && number.is_number()) schema->Set(exclusive, number);
}

// 3.0: null is allowed by a mark beside the type.
void TranslateNullable(Json* schema) {
  if (const Json* type = schema->Find("type"); type != nullptr && type->is_string()) {
    schema->Set("type", Json(Json::Array{*type, Json("null")}));
  }
  if (const Json* choices = schema->Find("enum"); choices != nullptr && choices->is_array()) {
    Json::Array with_null = choices->AsArray();
    if (std::find(with_null.begin(), with_null.end(), Json()) == with_null.end()) {
      with_null.emplace_back();
    }
    schema->Set("enum", Json(std::move(with_null)));
  }
}

}  // namespace

struct OpenApiSchemas::Writing {
  std::vector<std::string> open;  // references being written out
  int nodes = 0;
  size_t depth = 0;
};

OpenApiSchemas::OpenApiSchemas(const Json& document) : document_(document) {
  const Json* version = document.Find("openapi");
  old_ = version != nullptr && version->is_string() && version->AsString().starts_with("3.0");
}

Result<const Json*> OpenApiSchemas::Target(const std::string& reference) const {
  if (!reference.starts_with("#/") && reference != "#") {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("\"$ref\": \"{}\" is in another document; put it into this one first",
                             reference));
  }
  const Json* at = &document_;
  std::string_view rest = std::string_view(reference).substr(1);
  while (!rest.empty() && at != nullptr) {
    rest.remove_prefix(1);
    const size_t end = std::min(rest.find('/'), rest.size());
    std::string part = PercentDecoded(rest.substr(0, end));
    for (const auto& [escape, plain] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
      for (size_t i = part.find(escape); i != std::string::npos; i = part.find(escape, i + 1)) {
        part.replace(i, 2, plain);
      }
    }
    rest.remove_prefix(end);
    if (at->is_array()) {
      const bool number = !part.empty() && part.size() < 6 &&
                          part.find_first_not_of("0123456789") == std::string::npos;
      const size_t index = number ? std::stoul(part) : at->AsArray().size();
      at = index < at->AsArray().size() ? &at->AsArray()[index] : nullptr;
    } else {
      at = at->Find(part);
    }
  }
  if (at == nullptr) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("\"$ref\": \"{}\" leads to nothing in the document", reference));
  }
  return at;
}

Result<const Json*> OpenApiSchemas::Follow(const Json& object) const {
  const Json* at = &object;
  for (int i = 0; i < kMaxFollowed; ++i) {
    const Json* reference = at->Find("$ref");
    if (reference == nullptr || !reference->is_string()) return at;
    HONE_ASSIGN_OR_RETURN(at, Target(reference->AsString()));
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("\"$ref\": {} leads in a circle", DumpJson(*object.Find("$ref"))));
}

Result<Json> OpenApiSchemas::WriteOut(const Json& schema) const {
  Writing writing;
  return Write(schema, &writing);
}

// What is referred to, in the place of the reference.
Result<Json> OpenApiSchemas::WriteReference(const Json& schema, const std::string& name,
                                            Writing* writing) const {
  if (std::find(writing->open.begin(), writing->open.end(), name) != writing->open.end()) {
    return Json::Of({{"description", fmt::format("again {}, which contains itself",
                                                 name.substr(name.rfind('/') + 1))}});
  }
  HONE_ASSIGN_OR_RETURN(const Json* target, Target(name));
  writing->open.push_back(name);
  ++writing->depth;
  Result<Json> written = Write(*target, writing);
  --writing->depth;
  writing->open.pop_back();
  // What stands beside a reference says more about this use of it.
  const Json* description = schema.Find("description");
  if (written.ok() && written->is_object() && description != nullptr) {
    written->Set("description", *description);
  }
  return written;
}

Result<Json> OpenApiSchemas::Write(const Json& schema, Writing* writing) const {
  if (++writing->nodes > kMaxNodes || writing->depth > kDeepestOpenapi) {
    return Error(ErrorCode::kUnsupported,
                 "a schema becomes too large when its references are written out");
  }
  if (schema.is_bool()) return schema;
  if (schema == Json("true") || schema == Json("false")) return Json(schema == Json("true"));
  if (!schema.is_object()) return Error(ErrorCode::kInvalidArgument, "a schema must be an object");

  if (const Json* reference = schema.Find("$ref"); reference != nullptr && reference->is_string()) {
    return WriteReference(schema, reference->AsString(), writing);
  }
  ++writing->depth;
  Json out = Json::Of({});
  for (const auto& [key, value] : schema.AsObject()) {
    if (IsOneOf(key, kLeftOut)) continue;
    if (IsOneOf(key, kSchema)) {
      HONE_ASSIGN_OR_RETURN(Json inner, Write(value, writing));
      out.Set(key, std::move(inner));
    } else if (IsOneOf(key, kSchemaList) && value.is_array()) {
      Json::Array list;
      for (const Json& each : value.AsArray()) {
        HONE_ASSIGN_OR_RETURN(Json inner, Write(each, writing));
        list.push_back(std::move(inner));
      }
      out.Set(key, Json(std::move(list)));
    } else if (IsOneOf(key, kSchemaMap) && value.is_object()) {
      Json map = Json::Of({});
      for (const auto& [name, each] : value.AsObject()) {
        HONE_ASSIGN_OR_RETURN(Json inner, Write(each, writing));
        map.Set(name, std::move(inner));
      }
      out.Set(key, std::move(map));
    } else {
      out.Set(key, value);
    }
  }
  --writing->depth;
  Mend(&out);
  if (old_) {
    TranslateBound("minimum", "exclusiveMinimum", &out);
    TranslateBound("maximum", "exclusiveMaximum", &out);
    const Json* nullable = schema.Find("nullable");
    if (nullable != nullptr && *nullable == Json(true)) TranslateNullable(&out);
  }
  return out;
}

}  // namespace hone
