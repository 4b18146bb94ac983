#include "tools/openapi/openapi_request.h"

#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace hone {
namespace {

using In = OpenApiParameter::In;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// A value as it stands in a URL: a text as it is, anything else as JSON spells it.
std::string Plain(const Json& value) {
  if (value.is_string()) return value.AsString();
  return value.is_null() ? "" : DumpJson(value);
}

// The parts of an array or object, encoded, between separators: "a,b" or "k,v,k,v" or "k=v,k=v".
std::string Joined(const Json& value, std::string_view separator, std::string_view assign,
                   bool encode) {
  auto written = [&](const std::string& text) { return encode ? PercentEncoded(text) : text; };
  std::string out;
  auto add = [&](const std::string& text) {
    out += (out.empty() ? "" : std::string(separator)) + text;
  };
  if (value.is_array()) {
    for (const Json& each : value.AsArray()) add(written(Plain(each)));
  } else if (value.is_object()) {
    for (const auto& [key, each] : value.AsObject()) {
      add(written(key) + std::string(assign) + written(Plain(each)));
    }
  } else {
    out = written(Plain(value));
  }
  return out;
}

// The query of one parameter, names and values encoded.
void AddQuery(const OpenApiParameter& parameter, const Json& value, Pairs* query) {
  const std::string name = PercentEncoded(parameter.name);
  if (parameter.as_json) {
    query->emplace_back(name, PercentEncoded(DumpJson(value)));
  } else if (value.is_object() && parameter.style == "deepObject") {
    for (const auto& [key, each] : value.AsObject()) {
      query->emplace_back(name + "%5B" + PercentEncoded(key) + "%5D", PercentEncoded(Plain(each)));
    }
  } else if (value.is_object() && parameter.explode) {
    for (const auto& [key, each] : value.AsObject()) {
      query->emplace_back(PercentEncoded(key), PercentEncoded(Plain(each)));
    }
  } else if (value.is_array() && parameter.explode) {
    for (const Json& each : value.AsArray()) query->emplace_back(name, PercentEncoded(Plain(each)));
  } else {
    const std::string_view separator = parameter.style == "spaceDelimited"  ? "%20"
                                       : parameter.style == "pipeDelimited" ? "%7C"
                                                                            : ",";
    query->emplace_back(name, Joined(value, separator, separator, true));
  }
}

Result<std::string> InPath(const OpenApiParameter& parameter, const Json& value) {
  std::string text = parameter.as_json ? PercentEncoded(DumpJson(value))
                                       : Joined(value, ",", parameter.explode ? "=" : ",", true);
  if (text.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("`{}`: may not be empty", parameter.argument));
  }
  return text;
}

Result<std::string> InHeader(const OpenApiParameter& parameter, const Json& value) {
  std::string text = parameter.as_json ? DumpJson(value)
                                       : Joined(value, ",", parameter.explode ? "=" : ",", false);
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("`{}`: may not have line ends or control characters", parameter.argument));
    }
  }
  return text;
}

std::string Query(const Pairs& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) out += (out.empty() ? "" : "&") + name + "=" + value;
  return out;
}

// "." and ".." are steps in a path, encoded or not: a value must not become one.
Result<void> CheckSteps(std::string_view path) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "." || part == "..") {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("\"{}\": a part of a path may not be \"{}\"", path, part));
    }
    begin = end + 1;
  }
  return {};
}

}  // namespace

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

Result<HttpRequest> RequestOf(const OpenApiOperation& operation, std::string_view base_url,
                              const Json& arguments) {
  HttpRequest request;
  request.method = operation.method;
  std::string cookies;
  Pairs query, places;
  for (const OpenApiParameter& parameter : operation.parameters) {
    const Json* value = arguments.Find(parameter.argument);
    if (value == nullptr || value->is_null()) {
      if (parameter.in != In::kPath) continue;
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("`{}`: is missing", parameter.argument));
    }
    switch (parameter.in) {
      case In::kPath: {
        HONE_ASSIGN_OR_RETURN(std::string text, InPath(parameter, *value));
        places.emplace_back(parameter.name, std::move(text));
        break;
      }
      case In::kQuery: AddQuery(parameter, *value, &query); break;
      case In::kHeader: {
        HONE_ASSIGN_OR_RETURN(std::string text, InHeader(parameter, *value));
        request.headers.emplace_back(parameter.name, std::move(text));
        break;
      }
      case In::kCookie: {
        Pairs cookie;
        AddQuery(parameter, *value, &cookie);
        cookies += (cookies.empty() ? "" : "; ") + Query(cookie);
        break;
      }
    }
  }
  if (!cookies.empty()) request.headers.emplace_back("Cookie", std::move(cookies));
  // Filled in one pass, so that a value with braces is not taken for a place.
  std::string path;
  for (size_t i = 0; i < operation.path.size();) {
    const size_t close = operation.path.find('}', i);
    if (operation.path[i] != '{' || close == std::string::npos) {
      path += operation.path[i++];
      continue;
    }
    for (const auto& [name, text] : places) {
      if (name == operation.path.substr(i + 1, close - i - 1)) path += text;
    }
    i = close + 1;
  }
  HONE_RETURN_IF_ERROR(CheckSteps(path));
  while (base_url.ends_with('/')) base_url.remove_suffix(1);
  request.url = std::string(base_url) + path;
  if (!query.empty()) request.url += "?" + Query(query);

  const Json* body = operation.body == OpenApiOperation::Body::kNone
                         ? nullptr
                         : arguments.Find(operation.body_argument);
  if (body == nullptr) return request;
  request.headers.emplace_back("Content-Type", operation.content_type);
  if (operation.body == OpenApiOperation::Body::kJson) {
    request.body = DumpJson(*body);
  } else if (operation.body == OpenApiOperation::Body::kText) {
    request.body = Plain(*body);
  } else {
    Pairs fields;
    AddQuery({.name = "body", .style = "form", .explode = true}, *body, &fields);
    request.body = Query(fields);
  }
  return request;
}

}  // namespace hone
