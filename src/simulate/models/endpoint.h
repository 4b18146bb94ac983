#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// An endpoint that speaks OpenAI's chat completions.
struct EndpointOptions {
  std::string url;           // up to and with the version: "http://127.0.0.1:8000/v1"
  std::string model;         // as the endpoint calls it
  std::string key_variable;  // the environment variable that holds the key; empty: no key is sent
};

// A toolkit of the tool `complete` (simulate/models/language_model.h): POST {url}/chat/completions.
// 429 is a refusal with the server's Retry-After; 5xx, broken connections and answers that are not
// completions are the endpoint's faults and worth another attempt; every other status is ours, with
// what the server said. The key is read once and is in no message. An error when the variable is
// named and not set.
Result<std::shared_ptr<Toolkit>> NewEndpointToolkit(const EndpointOptions& options);

}  // namespace hone
