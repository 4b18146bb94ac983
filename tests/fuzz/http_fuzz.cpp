// The HTTP request parser: no bytes crash it, and how they are cut changes nothing.

#include <algorithm>

#include "base/check.h"
#include "serve/http_message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const hone::HttpLimits limits{.max_header_bytes = 300, .max_body_bytes = 64};
  hone::RequestParser whole(limits), parts(limits);
  const size_t used = whole.Feed(bytes);
  size_t fed = 0;
  while (fed < size && !parts.complete() && parts.refused() == 0) {
    const size_t step = 1 + (data[fed] + fed) % 7;
    fed += parts.Feed(bytes.substr(fed, step));
  }
  CHECK(whole.complete() == parts.complete());
  if (whole.complete()) {
    CHECK(used == fed);
    CHECK(whole.request().body == parts.request().body);
    CHECK(whole.request().body.size() <= limits.max_body_bytes);
    CHECK(whole.request().path == parts.request().path);
    CHECK(whole.request().path.starts_with("/") || whole.request().path == "*");
    CHECK(whole.request().headers == parts.request().headers);
    (void)whole.request().Parameter("a");
    (void)hone::IsLocalHost(whole.request().Header("host"));
    (void)hone::IsOwnOrigin(whole.request().Header("origin"), whole.request().Header("host"));
  }
  return 0;
}
