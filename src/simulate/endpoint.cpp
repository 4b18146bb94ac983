#include "simulate/endpoint.h"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "base/http_client.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "simulate/language_model.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

constexpr size_t kShownBytes = 300;  // of what a server says is wrong

// "7" or "0.5" seconds. A date is passed over: the backoff is long enough without it.
std::optional<milliseconds> RetryAfter(std::string_view header) {
  const std::string_view text = Trim(header);
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(seconds >= 0 && seconds < 1e6)) {
    return std::nullopt;
  }
  return milliseconds(static_cast<int64_t>(seconds * 1000));
}

class EndpointToolkit final : public Toolkit {
 public:
  EndpointToolkit(EndpointOptions options, std::string key)
      : options_(std::move(options)), key_(std::move(key)) {}

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*,
                 const CallLimits& limits) override {
    HttpRequest request{.method = "POST",
                        .url = options_.url + "/chat/completions",
                        .headers = {{"Content-Type", "application/json"}},
                        .body = Body(arguments),
                        .deadline = limits.time};
    if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_);
    const Result<HttpResponse> response = HttpFetch(request, limits.stop);
    if (!response.ok()) return FromError(response.error());
    if (response->status == 429 || response->status == 503) {
      ToolReply refused = Unavailable(Failure(*response));
      refused.refused = true;
      refused.retry_after = RetryAfter(response->Header("retry-after"));
      return refused;
    }
    if (response->status >= 500 || response->status == 408) return Unavailable(Failure(*response));
    if (response->status != 200) {
      return Unavailable(Failure(*response), Blame::kInfrastructure);
    }
    return Read(response->body);
  }

 private:
  std::string Body(const Json& arguments) const {
    Json body = Json::Of({{"model", options_.model},
                          {"messages", *arguments.Find("messages")},
                          {"temperature", *arguments.Find("temperature")},
                          {"max_tokens", *arguments.Find("max_tokens")},
                          {"seed", *arguments.Find("seed")}});
    if (*arguments.Find("json") == Json(true)) {
      body.Set("response_format", Json::Of({{"type", "json_object"}}));
    }
    return DumpJson(body);
  }

  std::string Failure(const HttpResponse& response) const {
    std::string said = Utf8Lossy(response.body.substr(0, kShownBytes));
    // Some servers repeat the key they do not like.
    for (size_t at = said.find(key_); !key_.empty() && at != std::string::npos;
         at = said.find(key_)) {
      said.replace(at, key_.size(), "[key]");
    }
    return fmt::format("{} answers {}: {}", options_.url, response.status, Trim(said));
  }

  static ToolReply Read(const std::string& body) {
    const Result<Json> parsed = ParseJson(body);
    const Json* choices = parsed.ok() ? parsed->Find("choices") : nullptr;
    if (choices == nullptr || !choices->is_array() || choices->AsArray().empty()) {
      return Unavailable("the endpoint's answer is no chat completion: " +
                         Utf8Lossy(body.substr(0, kShownBytes)));
    }
    const Json& choice = choices->AsArray()[0];
    const Json* message = choice.Find("message");
    const Json* content = message == nullptr ? nullptr : message->Find("content");
    if (content == nullptr || !content->is_string()) {
      return Unavailable("the endpoint's completion has no text");
    }
    const std::optional<TokenUsage> used =
        UsageOf(parsed->Find("usage"), "prompt_tokens", "completion_tokens");
    const Json* finish = choice.Find("finish_reason");
    return Answered(
        CompleteAnswer(content->AsString(), finish != nullptr && *finish == Json("length"), used));
  }

  const EndpointOptions options_;
  const std::string key_;
  const std::vector<ToolSpec> specs_ = {CompleteSpec()};
};

}  // namespace

Result<std::shared_ptr<Toolkit>> NewEndpointToolkit(const EndpointOptions& options) {
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
  return std::shared_ptr<Toolkit>(
      std::make_shared<EndpointToolkit>(std::move(cleaned), std::move(key)));
}

}  // namespace hone
