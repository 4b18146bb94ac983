#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone {

struct HttpResponse {
  int status = 0;  // any status is an answer: 500 is a response, not an Error
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // The value of a header, by lower-case name; "" when absent.
  std::string_view Header(std::string_view name) const;
};

// How long a server that refuses wants its client to wait: Retry-After in seconds ("7" or "0.5"),
// a day at most. A date is passed over: whoever waits longer each time waits long enough without
// it.
std::optional<std::chrono::milliseconds> RetryAfter(const HttpResponse& response);

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http:// or https://
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds deadline{30000};  // for the whole exchange, connecting included
  // Without a single byte for so long it ends as kDeadline; 0: only the deadline counts.
  std::chrono::seconds silence{0};
  size_t max_body_bytes = 64 << 20;
  // Through the proxy that the environment names (https_proxy, no_proxy), as downloads go.
  bool environment_proxy = false;
  // When set, gets status and headers, once: before the first byte of a body, or at the end where
  // it has none.
  std::function<void(const HttpResponse&)> on_headers;
  // When set, gets the body as it arrives (server-sent events); the response's body stays empty.
  // False: that was enough, and the exchange ends here, well.
  std::function<bool(std::string_view)> on_data;
};

// One HTTP exchange. Redirects are not followed and, unless asked for, no proxy of the environment
// is used: the bytes go where the URL says. Errors: kDeadline, kStopped, kFull (body too large),
// kInvalidArgument (URL), kUnavailable (no connection, no answer). A stop ends it at once.
// Thread-safe.
Result<HttpResponse> HttpFetch(const HttpRequest& request, std::stop_token stop = {});

}  // namespace hone
