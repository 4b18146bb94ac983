#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

// Addresses of the web. A scheme may be in capitals, as RFC 3986 has it.

// Whether it begins with http:// or https://.
bool IsWebAddress(std::string_view address);

// Where a redirect from `address` to `location` leads. kUnavailable, with both of them: nobody
// should go there, because it is no address, or leads from https to http.
Result<std::string> RedirectTarget(const std::string& address, std::string_view location);

}  // namespace hone
