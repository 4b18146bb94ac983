#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// The operations of an OpenAPI document as tools, called over HTTP
// (tools/openapi/openapi_document.h). Redirects are not followed.
struct OpenApiOptions {
  std::string file;  // JSON, or YAML by its name (.yaml, .yml); or
  std::string url;   // where the document is fetched when the toolkit is made, without `headers`
  // Empty: the first server of the document; one without a host is on the host of `url`.
  std::string base_url;
  // "Name: value", sent with every request; a value "env:NAME" is that variable's, so that no
  // secret stands in a recipe.
  std::vector<std::string> headers;
  std::vector<std::string> operations;  // names of the tools wanted; empty: all
  int64_t max_body_bytes = 1 << 20;
  // A request that puts the server back to its beginning, made before the first call of each
  // trajectory: its path behind the server's address; empty: none. Trajectories then come one after
  // the other. The header X-Hone-Session of the request is the trajectory's seed.
  std::string reset_path;
  std::string reset_method = "POST";
  std::string reset_body;
};
OpenApiOptions ReadOpenApiOptions(RecipeTable table);
Result<std::shared_ptr<Toolkit>> NewOpenApiToolkit(const OpenApiOptions& options);

}  // namespace hone
