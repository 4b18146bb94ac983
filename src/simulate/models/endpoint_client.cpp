#include "simulate/models/endpoint_client.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/http_client.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

constexpr size_t kShownBytes = 300;  // of what a server says is wrong

}  // namespace

Result<EndpointClient> EndpointClient::New(const EndpointOptions& options) {
  std::string key;
  if (!options.key_variable.empty()) {
    const char* value = std::getenv(options.key_variable.c_str());
    if (value == nullptr || *value == '\0') {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the endpoint's key is wanted in the environment variable {}, which "
                               "is not set",
                               options.key_variable));
    }
    key = value;
  }
  EndpointOptions cleaned = options;
  while (cleaned.url.ends_with('/')) cleaned.url.pop_back();
  return EndpointClient(std::move(cleaned), std::move(key));
}

ToolReply EndpointClient::Post(const Json& body, const CallLimits& limits,
                               const std::function<ToolReply(const Choice&)>& read) const {
  HttpRequest request{.method = "POST",
                      .url = options_.url + "/chat/completions",
                      .headers = {{"Content-Type", "application/json"}},
                      .body = DumpJson(body),
                      .deadline = limits.time};
  if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_);
  const Result<HttpResponse> response = HttpFetch(request, limits.stop);
  if (!response.ok()) return FromError(response.error());
  if (response->status == 429 || response->status == 503) {
    ToolReply refused = Unavailable(Failure(response->status, response->body));
    refused.refused = true;
    refused.retry_after = RetryAfter(*response);
    return refused;
  }
  if (response->status != 200) {
    const bool theirs = response->status >= 500 || response->status == 408;
    return Unavailable(Failure(response->status, response->body),
                       theirs ? Blame::kTool : Blame::kInfrastructure);
  }
  const Result<Json> parsed = ParseJson(response->body);
  const Json* choices = parsed.ok() ? parsed->Find("choices") : nullptr;
  if (choices == nullptr || !choices->is_array() || choices->AsArray().empty()) {
    return Unavailable("the endpoint's answer is no chat completion: " +
                       Utf8Lossy(response->body.substr(0, kShownBytes)));
  }
  const Json& choice = choices->AsArray()[0];
  const Json *message = choice.Find("message"), *finish = choice.Find("finish_reason");
  if (message == nullptr || !message->is_object()) {
    return Unavailable("the endpoint's completion has no message");
  }
  return read({*message, finish != nullptr && *finish == Json("length"), *parsed});
}

Result<HttpResponse> EndpointClient::AskForModels(milliseconds deadline) const {
  HttpRequest request{.url = options_.url + "/models", .deadline = deadline};
  if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_);
  return HttpFetch(request);
}

Result<std::vector<std::string>> EndpointClient::Models(std::chrono::milliseconds deadline) const {
  HONE_ASSIGN_OR_RETURN(const HttpResponse response, AskForModels(deadline));
  const Result<Json> parsed = ParseJson(response.body);
  const Json* data = parsed.ok() ? parsed->Find("data") : nullptr;
  if (response.status != 200 || data == nullptr || !data->is_array()) {
    return Error(ErrorCode::kUnavailable, Failure(response.status, response.body));
  }
  std::vector<std::string> names;
  for (const Json& one : data->AsArray()) {
    const Json* id = one.Find("id");
    if (id != nullptr && id->is_string()) names.push_back(id->AsString());
  }
  return names;
}

Result<void> EndpointClient::Knock() const {
  const Result<HttpResponse> response = AskForModels(milliseconds(10'000));
  if (!response.ok()) {
    return Error(response.error().code(),
                 fmt::format("nobody answers at {}: {}; start the server, or say where it is (url)",
                             options_.url, response.error().message()));
  }
  if (response->status != 401 && response->status != 403) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}; the key is that of the environment variable which key_variable "
                           "names",
                           Failure(response->status, response->body)));
}

std::string EndpointClient::Failure(int status, const std::string& body) const {
  std::string said = Utf8Lossy(body.substr(0, kShownBytes));
  // Some servers repeat the key they do not like.
  for (size_t at = said.find(key_); !key_.empty() && at != std::string::npos;
       at = said.find(key_)) {
    said.replace(at, key_.size(), "[key]");
  }
  return fmt::format("{} answers {}: {}", options_.url, status, Trim(said));
}

}  // namespace hone
