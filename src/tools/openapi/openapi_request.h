#pragma once

#include <string>
#include <string_view>

#include "base/http_client.h"
#include "base/json.h"
#include "base/result.h"
#include "tools/openapi/openapi_document.h"

namespace hone {

// The text with everything but letters, digits and -._~ as %XX.
std::string PercentEncoded(std::string_view text);

// The request that a call means: method, URL, headers and body. The arguments fit the operation's
// schema. The error is about the arguments: a value that would change which path is asked, or that
// cannot stand in a header.
Result<HttpRequest> RequestOf(const OpenApiOperation& operation, std::string_view base_url,
                              const Json& arguments);

}  // namespace hone
