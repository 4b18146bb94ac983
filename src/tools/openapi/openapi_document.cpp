#include "tools/openapi/openapi_document.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "tools/openapi/openapi_schema.h"

namespace hone {
namespace {

using In = OpenApiParameter::In;

constexpr std::array<std::string_view, 8> kMethods = {"get",  "put",   "post",    "delete",
                                                      "head", "patch", "options", "trace"};
constexpr std::array<std::string_view, 4> kPlaces = {"path", "query", "header", "cookie"};
constexpr size_t kMaxNameBytes = 64;

std::string TextAt(const Json& object, std::string_view key) {
  const Json* value = object.Find(key);
  return value != nullptr && value->is_string() ? value->AsString() : "";
}

bool TrueAt(const Json& object, std::string_view key) {
  const Json* value = object.Find(key);
  // Some documents quote it.
  return value != nullptr && (*value == Json(true) || *value == Json("true"));
}

Error Unsupported(std::string message) {
  return Error(ErrorCode::kUnsupported, std::move(message));
}

// A name that chat APIs take: letters, digits, '_' and '-', at most 64 of them.
std::string ToolName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
    if (fits) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name.substr(0, kMaxNameBytes);
}

// The name, or the name with the first number that makes it one of its own.
std::string Unique(const std::string& name, const std::set<std::string>& taken) {
  std::string unique = name;
  for (int i = 2; taken.count(unique) > 0; ++i) {
    const std::string suffix = fmt::format("_{}", i);
    unique = name.substr(0, kMaxNameBytes - suffix.size()) + suffix;
  }
  return unique;
}

Effect EffectOf(std::string_view method) {
  if (method == "get" || method == "head" || method == "options" || method == "trace") {
    return Effect::kReads;
  }
  return method == "delete" ? Effect::kIrreversible : Effect::kWrites;
}

// The URL of the first server, its variables replaced by their defaults.
std::string ServerOf(const Json& holder) {
  const Json* servers = holder.Find("servers");
  if (servers == nullptr || !servers->is_array() || servers->AsArray().empty()) return "";
  const Json& server = servers->AsArray()[0];
  std::string url = TextAt(server, "url");
  const Json* variables = server.Find("variables");
  if (variables == nullptr || !variables->is_object()) return url;
  for (const auto& [name, variable] : variables->AsObject()) {
    const std::string place = "{" + name + "}";
    const size_t at = url.find(place);
    if (at != std::string::npos) url.replace(at, place.size(), TextAt(variable, "default"));
  }
  return url;
}

bool IsJsonType(std::string_view type) {
  type = type.substr(0, type.find(';'));
  return type == "application/json" || type.ends_with("+json") || type == "*/*" ||
         type == "application/*";
}

// Whether a path has blanks or control characters outside of its parameters' names.
bool HasBlank(std::string_view path) {
  bool in_name = false;
  for (const char c : path) {
    if (c == '{' || c == '}') in_name = c == '{';
    if (!in_name && (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)) return true;
  }
  return false;
}

// Reads the operations of one document.
class DocumentReader {
 public:
  explicit DocumentReader(const Json& document) : document_(document), schemas_(document) {}

  Result<OpenApiDocument> Read() {
    const Json* paths = document_.Find("paths");
    if (paths != nullptr && !paths->is_object()) {
      return Error(ErrorCode::kInvalidArgument, "paths: an object is wanted");
    }
    if (paths != nullptr) {
      for (const auto& [path, item] : paths->AsObject()) {
        HONE_RETURN_IF_ERROR(ReadPath(path, item));
      }
    }
    return std::move(out_);
  }

 private:
  Result<void> ReadPath(const std::string& path, const Json& unresolved) {
    Result<const Json*> item = schemas_.Follow(unresolved);
    if (!item.ok()) return item.error().In(path);
    if (!(*item)->is_object()) {
      return Error(ErrorCode::kInvalidArgument, path + ": an object is wanted");
    }
    for (const std::string_view method : kMethods) {
      const Json* operation = (*item)->Find(method);
      if (operation == nullptr || !operation->is_object()) continue;
      const std::string id = TextAt(*operation, "operationId");
      std::string name = ToolName(id.empty() ? fmt::format("{}{}", method, path) : id);
      if (name.empty()) name = std::string(method);
      name = Unique(name, names_);
      Result<OpenApiOperation> read = ReadOperation(name, path, method, **item, *operation);
      if (read.ok()) {
        names_.insert(name);
        out_.operations.push_back(*std::move(read));
      } else {
        out_.left_out.push_back(fmt::format("{}: {}", name, read.error().message()));
      }
    }
    return {};
  }

  Result<OpenApiOperation> ReadOperation(const std::string& name, const std::string& path,
                                         std::string_view method, const Json& item,
                                         const Json& json) const {
    OpenApiOperation operation;
    operation.spec.name = name;
    operation.path = path;
    operation.method = method;
    for (char& c : operation.method) c = static_cast<char>(std::toupper(c));
    operation.spec.effect = EffectOf(method);
    for (const Json* holder : {&json, &item, &document_}) {
      if (operation.server.empty()) operation.server = ServerOf(*holder);
    }
    const std::string summary(Trim(TextAt(json, "summary")));
    const std::string more(Trim(TextAt(json, "description")));
    operation.spec.description = summary.empty() || more.empty() || more.starts_with(summary)
                                     ? (more.empty() ? summary : more)
                                     : summary + "\n" + more;
    if (operation.spec.description.empty()) {
      operation.spec.description = operation.method + " " + path;
    }
    if (HasBlank(path)) {
      return Error(ErrorCode::kInvalidArgument,
                   "the path has a blank or a control character, which no URL can have");
    }
    Arguments arguments;
    HONE_RETURN_IF_ERROR(ReadParameters(item, json, &operation, &arguments));
    HONE_RETURN_IF_ERROR(ReadBody(json, &operation, &arguments));
    operation.spec.parameters = Json::Of({{"type", "object"},
                                          {"properties", std::move(arguments.properties)},
                                          {"additionalProperties", false}});
    if (!arguments.required.empty()) {
      operation.spec.parameters.Set("required", Json(std::move(arguments.required)));
    }
    HONE_RETURN_IF_ERROR(ReadOutput(json, &operation));
    HONE_RETURN_IF_ERROR(ArgumentChecker::For(operation.spec));
    return operation;
  }

  struct Arguments {
    Json properties = Json::Of({});
    Json::Array required;
    std::set<std::string> names;
  };

  static std::string AddArgument(const std::string& name, std::string_view place, Json schema,
                                 bool required, Arguments* arguments) {
    std::string argument = name;
    if (arguments->names.count(argument) > 0) argument = fmt::format("{}_{}", place, name);
    argument = Unique(argument, arguments->names);
    arguments->names.insert(argument);
    arguments->properties.Set(argument, std::move(schema));
    if (required) arguments->required.emplace_back(argument);
    return argument;
  }

  Result<void> ReadParameters(const Json& item, const Json& operation_json,
                              OpenApiOperation* operation, Arguments* arguments) const {
    // Those of the operation replace those of the path that have the same name and place.
    std::vector<const Json*> found;
    std::map<std::pair<std::string, std::string>, size_t> known;
    for (const Json* holder : {&item, &operation_json}) {
      const Json* list = holder->Find("parameters");
      if (list == nullptr || !list->is_array()) continue;
      for (const Json& unresolved : list->AsArray()) {
        HONE_ASSIGN_OR_RETURN(const Json* parameter, schemas_.Follow(unresolved));
        const auto key = std::pair(TextAt(*parameter, "name"), TextAt(*parameter, "in"));
        const auto [at, fresh] = known.try_emplace(key, found.size());
        if (fresh) {
          found.push_back(parameter);
        } else {
          found[at->second] = parameter;
        }
      }
    }
    for (const Json* parameter : found) {
      HONE_RETURN_IF_ERROR(ReadParameter(*parameter, operation, arguments));
    }
    // A path that cannot be filled in could never be called.
    for (size_t open = operation->path.find('{'); open != std::string::npos;
         open = operation->path.find('{', open + 1)) {
      const size_t close = operation->path.find('}', open);
      const std::string name = operation->path.substr(open + 1, close - open - 1);
      if (close == std::string::npos ||
          std::none_of(operation->parameters.begin(), operation->parameters.end(),
                       [&](const OpenApiParameter& each) {
                         return each.in == In::kPath && each.name == name;
                       })) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("the path has {{{}}}, but there is no such parameter", name));
      }
    }
    return {};
  }

  Result<void> ReadParameter(const Json& json, OpenApiOperation* operation,
                             Arguments* arguments) const {
    OpenApiParameter parameter;
    parameter.name = TextAt(json, "name");
    const std::string in = TextAt(json, "in");
    const auto place = std::find(kPlaces.begin(), kPlaces.end(), in);
    if (parameter.name.empty() || place == kPlaces.end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("a parameter wants \"name\" and \"in\", not {}", DumpJson(json)));
    }
    parameter.in = static_cast<In>(place - kPlaces.begin());
    if (parameter.in == In::kHeader) {
      // By the specification these are not parameters; the recipe sets them.
      std::string lower = parameter.name;
      for (char& c : lower) c = static_cast<char>(std::tolower(c));
      if (lower == "accept" || lower == "content-type" || lower == "authorization") return {};
    }
    const bool form = parameter.in == In::kQuery || parameter.in == In::kCookie;
    parameter.style = TextAt(json, "style");
    if (parameter.style.empty()) parameter.style = form ? "form" : "simple";
    const Json* explode = json.Find("explode");
    parameter.explode = explode != nullptr ? *explode == Json(true) : parameter.style == "form";
    const bool known = form ? parameter.style == "form" || parameter.style == "spaceDelimited" ||
                                  parameter.style == "pipeDelimited" ||
                                  parameter.style == "deepObject"
                            : parameter.style == "simple";
    if (!known) {
      return Unsupported(fmt::format("parameter {}: style {} in {} is not supported",
                                     parameter.name, parameter.style, in));
    }
    const Json* schema = json.Find("schema");
    if (const Json* content = json.Find("content"); schema == nullptr && content != nullptr &&
                                                    content->is_object() &&
                                                    !content->AsObject().empty()) {
      parameter.as_json = true;
      schema = content->AsObject()[0].second.Find("schema");
    }
    HONE_ASSIGN_OR_RETURN(Json written,
                          schemas_.WriteOut(schema != nullptr ? *schema : Json::Of({})));
    const std::string description = TextAt(json, "description");
    if (!description.empty() && written.is_object()) written.Set("description", description);
    const bool required = parameter.in == In::kPath || TrueAt(json, "required");
    parameter.argument = AddArgument(parameter.name, in, std::move(written), required, arguments);
    operation->parameters.push_back(std::move(parameter));
    return {};
  }

  Result<void> ReadBody(const Json& json, OpenApiOperation* operation, Arguments* arguments) const {
    const Json* unresolved = json.Find("requestBody");
    if (unresolved == nullptr) return {};
    HONE_ASSIGN_OR_RETURN(const Json* body, schemas_.Follow(*unresolved));
    const Json* content = body->Find("content");
    if (content == nullptr || !content->is_object() || content->AsObject().empty()) return {};
    const Json::Member* chosen = nullptr;
    auto choose = [&](auto fits, OpenApiOperation::Body kind) {
      for (const Json::Member& member : content->AsObject()) {
        if (chosen != nullptr || !fits(member.first)) continue;
        chosen = &member;
        operation->body = kind;
      }
    };
    choose(&IsJsonType, OpenApiOperation::Body::kJson);
    choose([](std::string_view type) { return type == "application/x-www-form-urlencoded"; },
           OpenApiOperation::Body::kForm);
    choose([](std::string_view type) { return type.starts_with("text/"); },
           OpenApiOperation::Body::kText);
    if (chosen == nullptr) {
      return Unsupported(
          fmt::format("a body of type {} is not supported", content->AsObject()[0].first));
    }
    const bool any = chosen->first.find('*') != std::string::npos;
    operation->content_type = any ? "application/json" : chosen->first;
    const Json* schema = chosen->second.Find("schema");
    HONE_ASSIGN_OR_RETURN(Json written,
                          schemas_.WriteOut(schema != nullptr ? *schema : Json::Of({})));
    operation->body_argument =
        AddArgument("body", "request", std::move(written), TrueAt(*body, "required"), arguments);
    return {};
  }

  // The schema of the first answer that is a success and JSON.
  Result<void> ReadOutput(const Json& json, OpenApiOperation* operation) const {
    const Json* responses = json.Find("responses");
    if (responses == nullptr || !responses->is_object()) return {};
    for (const auto& [status, unresolved] : responses->AsObject()) {
      if (!status.starts_with('2')) continue;
      HONE_ASSIGN_OR_RETURN(const Json* response, schemas_.Follow(unresolved));
      const Json* content = response->Find("content");
      if (content == nullptr || !content->is_object()) continue;
      for (const auto& [type, media] : content->AsObject()) {
        const Json* schema = media.Find("schema");
        if (!IsJsonType(type) || schema == nullptr) continue;
        HONE_ASSIGN_OR_RETURN(operation->spec.output, schemas_.WriteOut(*schema));
        return {};
      }
    }
    return {};
  }

  const Json& document_;
  const OpenApiSchemas schemas_;
  std::set<std::string> names_;
  OpenApiDocument out_;
};

}  // namespace

Result<OpenApiDocument> ReadOpenApi(const Json& document) {
  if (document.Find("swagger") != nullptr) {
    return Unsupported("this is Swagger 2.0; convert it to OpenAPI 3 first");
  }
  const std::string version = TextAt(document, "openapi");
  if (!version.starts_with("3.0") && !version.starts_with("3.1")) {
    return Unsupported(
        fmt::format("openapi: versions 3.0 and 3.1 can be read, this one is \"{}\"", version));
  }
  return DocumentReader(document).Read();
}

}  // namespace hone
