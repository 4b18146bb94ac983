#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tools/tool_spec.h"

namespace hone {

// How one argument travels.
struct OpenApiParameter {
  enum class In { kPath, kQuery, kHeader, kCookie };

  std::string argument;  // its name among the arguments
  std::string name;      // its name in the request
  In in = In::kQuery;
  std::string style;  // simple, form, spaceDelimited, pipeDelimited, deepObject
  bool explode = false;
  bool as_json = false;  // its value is JSON text
};

// One operation of a document as a tool.
struct OpenApiOperation {
  enum class Body { kNone, kJson, kForm, kText };

  ToolSpec spec;
  std::string method;  // "GET"
  std::string path;    // "/users/{id}"
  std::string server;  // base URL; may be relative or empty
  std::vector<OpenApiParameter> parameters;
  Body body = Body::kNone;
  std::string body_argument;  // which argument is the body
  std::string content_type;   // of the body
};

// What a document offers.
struct OpenApiDocument {
  std::vector<OpenApiOperation> operations;
  // Operations that cannot be made tools, "name: why".
  std::vector<std::string> left_out;
};

// Reads an OpenAPI 3.0 or 3.1 document. A tool is named by its operationId, else "get_users_id".
// Its arguments are the parameters by their names, and the body as `body`; of two parameters of
// one name in different places the later is called "query_id" and the like. GET and HEAD read,
// DELETE is irreversible, everything else writes. The error says where in the document.
Result<OpenApiDocument> ReadOpenApi(const Json& document);

}  // namespace hone
