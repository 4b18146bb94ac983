// Any bytes as a YAML document and, where they are one, as an OpenAPI document: read or refused.
// What is read has tools with schemas that can be checked, and whatever an agent writes as
// arguments, a request stays on its server and within its headers. (Events: json_rpc_fuzz.cpp.)

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "tools/openapi/openapi_document.h"
#include "tools/openapi/openapi_request.h"
#include "tools/openapi/yaml.h"

namespace {

constexpr std::string_view kBase = "https://api.example/v1";

bool OnOneLine(std::string_view text) { return text.find_first_of("\r\n") == text.npos; }

void Request(const hone::OpenApiOperation& operation, const hone::Json& value) {
  hone::Json arguments = hone::Json::Object();
  for (const hone::OpenApiParameter& parameter : operation.parameters) {
    arguments.Set(parameter.argument, value);
  }
  if (!operation.body_argument.empty()) arguments.Set(operation.body_argument, value);
  const auto request = hone::RequestOf(operation, kBase, arguments);
  if (!request.ok()) {
    CHECK(!request.error().message().empty());
    return;
  }
  CHECK(request->url.starts_with(kBase));
  CHECK(request->url.find_first_of(" \r\n") == std::string::npos);
  for (const auto& [name, text] : request->headers) CHECK(OnOneLine(name) && OnOneLine(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const hone::Result<hone::Json> yaml = hone::ParseYaml(text);
  if (!yaml.ok()) {
    CHECK(!yaml.error().message().empty());
    return 0;
  }
  const hone::Result<hone::OpenApiDocument> document = hone::ReadOpenApi(*yaml);
  if (!document.ok()) return 0;
  for (const hone::OpenApiOperation& operation : document->operations) {
    CHECK(hone::ArgumentChecker::For(operation.spec).ok());
    for (const char* value : {"../..", "a/../b?c#d", "x\r\nHost: evil", "\u00e9 %2e%2e"}) {
      Request(operation, hone::Json(value));
      Request(operation, hone::Json::Of({{value, hone::Json::Array{value, 1}}}));
    }
  }
  return 0;
}
