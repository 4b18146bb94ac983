// Compiling: finds every subschema, its base URI and its anchors, and follows all references.
// schema_walk.h checks values.

#include "tools/json_schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tools/regex.h"
#include "tools/schema_drafts.h"
#include "tools/schema_walk.h"
#include "tools/uri.h"

namespace hone {
namespace {

// Keywords whose value is a schema, a list of schemas, or schemas by name.
constexpr std::array kOne = {"additionalItems",
                             "additionalProperties",
                             "contains",
                             "else",
                             "if",
                             "items",
                             "not",
                             "propertyNames",
                             "then",
                             "unevaluatedItems",
                             "unevaluatedProperties"};
constexpr std::array kMany = {"allOf", "anyOf", "items", "oneOf", "prefixItems"};
constexpr std::array kNamed = {
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"};

}  // namespace

std::string JsonSchema::Problem::Text() const {
  return path.empty() ? message : fmt::format("`{}`: {}", path, message);
}

struct JsonSchema::Document {
  Json root;
  SchemaDraft draft = SchemaDraft::kDraft2020;
  bool assert_format = false;
  SchemaReferences references;  // from the schema that holds a $ref
  SchemaPatterns patterns;      // by the schema that holds them

  std::map<std::string, const Json*> resources;  // by URI, without fragment
  std::map<std::string, const Json*> anchors;    // by URI#anchor
  std::map<const Json*, Uri> bases;              // of every subschema

  Result<void> Collect(const Json& schema, const Uri& outer, int depth);
  Uri BaseOf(const Json& schema, const Uri& outer);
  Result<void> CheckDialect(const Json& schema, int depth) const;
  Result<void> CollectBelow(const Json& schema, const Uri& base, int depth);
  Result<void> CompilePatterns(const Json& schema);
  Result<void> Link();
  Result<const Json*> Target(const Json& schema, const std::string& reference) const;
  Result<void> RefuseLoops() const;
};

namespace {

Error RefusedSchema(std::string_view what) {
  return Error(ErrorCode::kUnsupported, fmt::format("{} is not supported", what));
}
Error WrongSchema(std::string_view keyword, std::string_view what) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", keyword, what));
}

// What the value of a keyword must be, where a wrong one would be read as something else.
Result<void> CheckKeywords(const Json& schema) {
  for (const char* key : {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) {
    const Json* value = schema.Find(key);
    if (value != nullptr && !value->is_number()) return WrongSchema(key, "must be a number");
  }
  if (const Json* unit = schema.Find("multipleOf")) {
    if (!unit->is_number() || unit->AsDouble() <= 0)
      return WrongSchema("multipleOf", "must be above 0");
  }
  for (const char* key : {"minLength", "maxLength", "minItems", "maxItems", "minProperties",
                          "maxProperties", "minContains", "maxContains"}) {
    const Json* value = schema.Find(key);
    if (value != nullptr && (!IsWhole(*value) || value->AsDouble() < 0)) {
      return WrongSchema(key, "must be a whole number from 0 on");
    }
  }
  if (const Json* type = schema.Find("type")) {
    const Json::Array types = type->is_array() ? type->AsArray() : Json::Array{*type};
    for (const Json& one : types) {
      static const std::set<std::string> kTypes = {"array",  "boolean", "integer", "null",
                                                   "number", "object",  "string"};
      if (!one.is_string() || !kTypes.contains(one.AsString())) {
        return WrongSchema("type", fmt::format("{} is no type of JSON", Shown(one)));
      }
    }
  }
  if (const Json* values = schema.Find("enum"); values != nullptr && !values->is_array()) {
    return WrongSchema("enum", "must be a list");
  }
  if (const Json* names = schema.Find("required")) {
    if (!names->is_array()) return WrongSchema("required", "must be a list of names");
    for (const Json& name : names->AsArray()) {
      if (!name.is_string()) return WrongSchema("required", "must be a list of names");
    }
  }
  return {};
}

// A draft by the URI of its meta-schema.
Result<SchemaDraft> DraftOf(const Json& uri) {
  const std::string name = uri.is_string() ? uri.AsString() : "";
  // What draft 6 has, draft 7 has as well; draft 4 is rewritten before.
  for (const char* old : {"draft-07", "draft-06", "draft-04"}) {
    for (const char* scheme : {"http", "https"}) {
      if (name.starts_with(fmt::format("{}://json-schema.org/{}/schema", scheme, old))) {
        return SchemaDraft::kDraft7;
      }
    }
  }
  if (name.starts_with("https://json-schema.org/draft/2020-12/schema")) {
    return SchemaDraft::kDraft2020;
  }
  return RefusedSchema(
      fmt::format("the meta-schema {} (a custom vocabulary or another draft)", Shown(uri)));
}

}  // namespace

// The base URI of a schema, which its $id may set; and the names that the schema can be referred to
// by.
Uri JsonSchema::Document::BaseOf(const Json& schema, const Uri& outer) {
  Uri base = outer;
  const bool draft7 = draft == SchemaDraft::kDraft7;
  if (const Json* id = schema.Find("$id"); id != nullptr && id->is_string()) {
    const Uri given = Uri::Parse(id->AsString());
    const bool is_anchor = draft7 && given.WithoutFragment().empty() && !given.fragment.empty();
    if (is_anchor) {
      anchors.emplace(outer.WithoutFragment() + "#" + given.fragment, &schema);
    } else {
      base = ResolveUri(outer, given);
      resources.emplace(base.WithoutFragment(), &schema);
    }
  }
  for (const char* key : {"$anchor", "$dynamicAnchor"}) {
    const Json* anchor = draft7 ? nullptr : schema.Find(key);
    if (anchor != nullptr && anchor->is_string()) {
      anchors.emplace(base.WithoutFragment() + "#" + anchor->AsString(), &schema);
    }
  }
  return base;
}

// What needs more than the schema itself is refused.
Result<void> JsonSchema::Document::CheckDialect(const Json& schema, int depth) const {
  if (const Json* dialect = schema.Find("$schema"); dialect != nullptr && depth > 0) {
    HONE_ASSIGN_OR_RETURN(const SchemaDraft own, DraftOf(*dialect));
    if (own != draft) return RefusedSchema("a subschema of another draft");
  }
  if (schema.Find("$vocabulary") != nullptr) return RefusedSchema("$vocabulary");
  for (const char* key : {"$dynamicRef", "$recursiveRef"}) {
    if (draft != SchemaDraft::kDraft7 && schema.Find(key) != nullptr) {
      return RefusedSchema(fmt::format("the dynamic reference {}", key));
    }
  }
  return {};
}

Result<void> JsonSchema::Document::CollectBelow(const Json& schema, const Uri& base, int depth) {
  auto collect = [&](const char* key, const Json& sub) -> Result<void> {
    if (!IsSchema(sub)) return WrongSchema(key, "must be a schema: an object, true or false");
    return Collect(sub, base, depth + 1);
  };
  for (const char* key : kOne) {
    const Json* sub = schema.Find(key);
    if (sub == nullptr || sub->is_array()) continue;
    HONE_RETURN_IF_ERROR(collect(key, *sub));
  }
  for (const char* key : kMany) {
    const Json* list = schema.Find(key);
    if (list == nullptr || (std::string_view(key) == "items" && !list->is_array())) continue;
    if (!list->is_array()) return WrongSchema(key, "must be a list of schemas");
    for (const Json& sub : list->AsArray()) HONE_RETURN_IF_ERROR(collect(key, sub));
  }
  for (const char* key : kNamed) {
    const Json* named = schema.Find(key);
    if (named == nullptr) continue;
    if (!named->is_object()) return WrongSchema(key, "must be an object of schemas");
    const bool may_list_names = std::string_view(key) == "dependencies";
    for (const auto& [name, sub] : named->AsObject()) {
      if (may_list_names && sub.is_array()) continue;
      HONE_RETURN_IF_ERROR(collect(key, sub));
    }
  }
  return {};
}

Result<void> JsonSchema::Document::CompilePatterns(const Json& schema) {
  const auto compile = [&](const std::string& pattern) -> Result<void> {
    HONE_ASSIGN_OR_RETURN(Regex regex, Regex::Compile(pattern));
    patterns[&schema].emplace(pattern, std::move(regex));
    return {};
  };
  if (const Json* named = schema.Find("patternProperties")) {
    for (const auto& [name, sub] : named->AsObject()) HONE_RETURN_IF_ERROR(compile(name));
  }
  if (const Json* pattern = schema.Find("pattern"); pattern != nullptr && pattern->is_string()) {
    HONE_RETURN_IF_ERROR(compile(pattern->AsString()));
  }
  return {};
}

Result<void> JsonSchema::Document::Collect(const Json& schema, const Uri& outer, int depth) {
  bases[&schema] = outer;
  if (!schema.is_object()) return {};
  const Json* reference = schema.Find("$ref");
  if (reference != nullptr && !reference->is_string()) {
    return WrongSchema("$ref", "must be a text");
  }
  if (draft == SchemaDraft::kDraft7 && reference != nullptr) {
    // Nothing beside a $ref counts, but definitions may still be referred to.
    if (const Json* named = schema.Find("definitions"); named != nullptr && named->is_object()) {
      for (const auto& [name, sub] : named->AsObject()) {
        if (IsSchema(sub)) HONE_RETURN_IF_ERROR(Collect(sub, outer, depth + 1));
      }
    }
    return {};
  }
  HONE_RETURN_IF_ERROR(CheckDialect(schema, depth));
  const Uri base = BaseOf(schema, outer);
  bases[&schema] = base;
  HONE_RETURN_IF_ERROR(CheckKeywords(schema));
  HONE_RETURN_IF_ERROR(CollectBelow(schema, base, depth));
  return CompilePatterns(schema);
}

Result<const Json*> JsonSchema::Document::Target(const Json& schema,
                                                 const std::string& reference) const {
  const Uri uri = ResolveUri(bases.at(&schema), Uri::Parse(reference));
  const std::string document = uri.WithoutFragment();
  const auto resource = resources.find(document);
  if (resource == resources.end()) {
    return RefusedSchema(fmt::format("$ref: the remote document \"{}\"", document));
  }
  const std::string fragment = PercentDecoded(uri.fragment);
  if (fragment.empty()) return resource->second;
  if (!fragment.starts_with('/')) {
    const auto anchor = anchors.find(document + "#" + fragment);
    if (anchor == anchors.end()) {
      return WrongSchema("$ref", fmt::format("\"{}\" names no subschema", reference));
    }
    return anchor->second;
  }
  // A JSON pointer (RFC 6901).
  const Json* at = resource->second;
  for (size_t begin = 1; at != nullptr && begin <= fragment.size();) {
    const size_t end = std::min(fragment.find('/', begin), fragment.size());
    std::string token;
    for (size_t i = begin; i < end; ++i) {
      if (fragment[i] == '~' && i + 1 < end && (fragment[i + 1] == '0' || fragment[i + 1] == '1')) {
        token += fragment[++i] == '0' ? '~' : '/';
      } else {
        token += fragment[i];
      }
    }
    if (at->is_array()) {
      const bool digits = !token.empty() && token.size() < 9 &&
                          token.find_first_not_of("0123456789") == std::string::npos;
      const size_t index = digits ? std::stoul(token) : at->AsArray().size();
      at = index < at->AsArray().size() ? &at->AsArray()[index] : nullptr;
    } else {
      at = at->Find(token);
    }
    begin = end + 1;
  }
  if (at == nullptr || !IsSchema(*at)) {
    return WrongSchema("$ref", fmt::format("\"{}\" points to no subschema", reference));
  }
  return at;
}

Result<void> JsonSchema::Document::Link() {
  // Following a reference may lead to a place that is no subschema by its keyword: that is then
  // collected, too.
  std::vector<const Json*> open;
  for (const auto& [schema, base] : bases) open.push_back(schema);
  while (!open.empty()) {
    const Json* schema = open.back();
    open.pop_back();
    const Json* reference = schema->Find("$ref");
    if (reference == nullptr || !reference->is_string() || references.contains(schema)) continue;
    HONE_ASSIGN_OR_RETURN(const Json* target, Target(*schema, reference->AsString()));
    if (!bases.contains(target)) {
      HONE_RETURN_IF_ERROR(Collect(*target, bases.at(schema), 1));
      for (const auto& [found, base] : bases) {
        if (!references.contains(found)) open.push_back(found);
      }
    }
    references[schema] = target;
  }
  return RefuseLoops();
}

// A schema that applies itself to the same value would never end.
Result<void> JsonSchema::Document::RefuseLoops() const {
  std::map<const Json*, int> state;  // 1: on the way, 2: done
  struct Frame {
    const Json* schema;
    std::vector<const Json*> next;
  };
  auto in_place = [&](const Json* schema) {
    std::vector<const Json*> next;
    if (!schema->is_object()) return next;
    if (const auto found = references.find(schema); found != references.end()) {
      next.push_back(found->second);
      if (draft == SchemaDraft::kDraft7) return next;
    }
    for (const char* key : {"not", "if", "then", "else"}) {
      if (const Json* sub = schema->Find(key)) next.push_back(sub);
    }
    for (const char* key : {"allOf", "anyOf", "oneOf"}) {
      const Json* list = schema->Find(key);
      if (list == nullptr || !list->is_array()) continue;
      for (const Json& sub : list->AsArray()) next.push_back(&sub);
    }
    for (const char* key : {"dependentSchemas", "dependencies"}) {
      const Json* named = schema->Find(key);
      if (named == nullptr || !named->is_object()) continue;
      for (const auto& [name, sub] : named->AsObject()) {
        if (IsSchema(sub)) next.push_back(&sub);
      }
    }
    return next;
  };
  for (const auto& [start, base] : bases) {
    if (state[start] != 0) continue;
    std::vector<Frame> path = {{start, in_place(start)}};
    state[start] = 1;
    while (!path.empty()) {
      if (path.back().next.empty()) {
        state[path.back().schema] = 2;
        path.pop_back();
        continue;
      }
      const Json* next = path.back().next.back();
      path.back().next.pop_back();
      if (state[next] == 1) return WrongSchema("$ref", "the schema refers to itself without end");
      if (state[next] == 2) continue;
      state[next] = 1;
      path.push_back({next, in_place(next)});
    }
  }
  return {};
}

Result<JsonSchema> JsonSchema::Compile(const Json& schema, const SchemaOptions& options) {
  if (!IsSchema(schema)) {
    return Error(ErrorCode::kInvalidArgument, "a schema is an object, true or false");
  }
  auto document = std::make_shared<Document>();
  document->root = schema;
  document->draft = options.draft;
  document->assert_format = options.assert_format;
  if (const Json* dialect = schema.Find("$schema")) {
    HONE_ASSIGN_OR_RETURN(document->draft, DraftOf(*dialect));
    const bool draft4 = dialect->AsString().find("/draft-04/") != std::string::npos;
    if (draft4) document->root = FromDraft4(schema);
  }
  document->resources.emplace("", &document->root);
  HONE_RETURN_IF_ERROR(document->Collect(document->root, Uri(), 0));
  HONE_RETURN_IF_ERROR(document->Link());
  JsonSchema compiled;
  compiled.document_ = std::move(document);
  return compiled;
}

std::vector<JsonSchema::Problem> JsonSchema::Check(const Json& value) const {
  return WalkSchema({document_->draft, document_->assert_format}, document_->references,
                    document_->patterns, document_->root, value);
}

}  // namespace hone
