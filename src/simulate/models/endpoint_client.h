#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "simulate/models/endpoint.h"

namespace hone {

struct HttpResponse;

// Posts to an endpoint that speaks OpenAI's chat completions. Immutable and thread-safe.
class EndpointClient {
 public:
  // The key is read once. An error when the variable is named and not set.
  static Result<EndpointClient> New(const EndpointOptions& options);

  // What a choice of a completion becomes: its "message", whether it was cut off, and the whole
  // answer, for "usage".
  struct Choice {
    const Json& message;
    bool cut = false;
    const Json& answer;
  };

  // POST {url}/chat/completions. 429 is a refusal with the server's Retry-After; 5xx, broken
  // connections and answers that are not completions are the endpoint's faults and worth another
  // attempt; every other status is ours, with what the server said. The key is in no message.
  // `read` makes a reply of a completion's first choice.
  ToolReply Post(const Json& body, const CallLimits& limits,
                 const std::function<ToolReply(const Choice&)>& read) const;

  // GET {url}/models: the names of what it has.
  Result<std::vector<std::string>> Models(std::chrono::milliseconds deadline) const;
  // GET {url}/models, which costs nothing: whether anybody answers and the key is taken. What else
  // the server says of it does not matter, for not all know it.
  Result<void> Knock() const;

  const std::string& model() const { return options_.model; }

 private:
  EndpointClient(EndpointOptions options, std::string key)
      : options_(std::move(options)), key_(std::move(key)) {}

  Result<HttpResponse> AskForModels(std::chrono::milliseconds deadline) const;
  std::string Failure(int status, const std::string& body) const;

  EndpointOptions options_;
  std::string key_;
};

}  // namespace hone
