#include "tools/mcp/mcp_http.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <ctime>
#include <deque>
#include <thread>

#include <fmt/format.h>

#include "base/http_client.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "tools/mcp/mcp_secrets.h"
#include "tools/mcp/sse.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPostTime{5000};     // for what nobody waits for
constexpr milliseconds kGoodbyeTime{1000};  // for ending the session
constexpr size_t kMaxUnsentHttp = 1000;     // messages that nobody waits for
constexpr size_t kShownBody = 300;
constexpr milliseconds kLongestRetryAfter = std::chrono::hours(24);

bool IsVisibleAscii(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

// The answer to one request, out of a body that is one message or a stream of them.
class AnswerReader {
 public:
  AnswerReader(std::optional<JsonRpcId> id, size_t max_bytes,
               std::function<void(const JsonRpcMessage&)> other)
      : id_(std::move(id)), max_bytes_(max_bytes), other_(std::move(other)) {}

  void Begin(const HttpResponse& head) {
    is_stream_ = head.status == 200 && head.Header("content-type").starts_with("text/event-stream");
  }

  // False when there is no need for more.
  bool Feed(std::string_view bytes) {
    if (is_stream_) {
      for (const SseEvent& event : stream_.Feed(bytes)) Take(event.data);
      too_large_ = stream_.held_bytes() > max_bytes_;
    } else {
      too_large_ = body_.size() + bytes.size() > max_bytes_;
      if (!too_large_) body_ += bytes;
    }
    return !too_large_ && !outcome_;
  }

  // What a whole body says.
  void End() {
    if (!is_stream_ && !too_large_) Take(body_);
  }

  const std::optional<McpOutcome>& outcome() const { return outcome_; }
  const std::string& body() const { return body_; }
  bool too_large() const { return too_large_; }

 private:
  void Take(const std::string& text) {
    if (outcome_) return;
    const auto read = ReadJsonRpc(text);
    const auto* message = std::get_if<JsonRpcMessage>(&read);
    if (message == nullptr) return;
    if (const auto* response = std::get_if<JsonRpcResponse>(message)) {
      if (response->id == id_) outcome_ = McpOutcome(response->result);
    } else if (const auto* failed = std::get_if<JsonRpcErrorResponse>(message)) {
      // A request that the server refused to read has an answer without an id.
      if (failed->id == id_ || !failed->id) outcome_ = McpOutcome(failed->error);
    } else {
      other_(*message);
    }
  }

  const std::optional<JsonRpcId> id_;
  const size_t max_bytes_;
  const std::function<void(const JsonRpcMessage&)> other_;
  bool is_stream_ = false;
  bool too_large_ = false;
  SseReader stream_;
  std::string body_;
  std::optional<McpOutcome> outcome_;
};

class HttpTransport final : public McpTransport {
 public:
  HttpTransport(McpHttpOptions options, McpReceive receive)
      : options_(std::move(options)),
        receive_(std::move(receive)),
        poster_([this](const std::stop_token& stop) { PostAll(stop); }) {}

  ~HttpTransport() override {
    poster_.request_stop();
    poster_.join();
    if (session_.empty() || broken_) return;
    HttpRequest goodbye = NewRequest("DELETE", kGoodbyeTime);
    (void)HttpFetch(goodbye).ok();  // a server need not take it
  }

  McpOutcome Ask(const JsonRpcRequest& request, const McpLimits& limits) override {
    return Exchange(request, request.id, request.method, &request.params, limits);
  }

  Result<void> Tell(const JsonRpcNotification& notification, const McpLimits& limits) override {
    const McpOutcome outcome =
        Exchange(notification, std::nullopt, notification.method, nullptr, limits);
    if (const auto* failure = std::get_if<McpFailure>(&outcome)) return failure->error;
    if (const auto* error = std::get_if<JsonRpcError>(&outcome)) {
      return Error(ErrorCode::kUnavailable, options_.url + ": " + error->message);
    }
    return {};
  }

  void Post(JsonRpcMessage message) override {
    const MutexLock lock(mutex_);
    // Without a session, hanging up has said it already.
    if (version_ == kMcpStatelessVersion || unsent_.size() >= kMaxUnsentHttp) return;
    unsent_.push_back(std::move(message));
    changed_.notify_all();
  }

  void SetVersion(const std::string& version) override {
    const MutexLock lock(mutex_);
    version_ = version;
  }

  bool alive() const override { return !broken_; }

 private:
  HttpRequest NewRequest(std::string method, milliseconds time) const {
    HttpRequest request;
    request.method = std::move(method);
    request.url = options_.url;
    request.headers = options_.headers;
    request.deadline = time;
    request.max_body_bytes = SIZE_MAX;  // messages are bounded one by one
    const MutexLock lock(mutex_);
    if (!version_.empty()) request.headers.emplace_back("MCP-Protocol-Version", version_);
    if (!session_.empty()) request.headers.emplace_back("Mcp-Session-Id", session_);
    return request;
  }

  // The stateless version repeats in headers what routes a request.
  std::optional<Error> AddRoute(const std::string& method, const Json* params,
                                HttpRequest* request) const {
    {
      const MutexLock lock(mutex_);
      if (version_ != kMcpStatelessVersion) return std::nullopt;
    }
    request->headers.emplace_back("Mcp-Method", method);
    const Json* name = params != nullptr ? params->Find("name") : nullptr;
    if (name == nullptr || !name->is_string()) return std::nullopt;
    if (!IsVisibleAscii(name->AsString())) {
      return Error(ErrorCode::kUnsupported, "a tool's name that cannot stand in an HTTP header");
    }
    request->headers.emplace_back("Mcp-Name", name->AsString());
    return std::nullopt;
  }

  McpOutcome Exchange(const JsonRpcMessage& message, std::optional<JsonRpcId> id,
                      const std::string& method, const Json* params, const McpLimits& limits) {
    HttpRequest request = NewRequest("POST", limits.time);
    const bool had_session = HasSession();
    request.headers.emplace_back("Content-Type", "application/json");
    request.headers.emplace_back("Accept", "application/json, text/event-stream");
    if (std::optional<Error> problem = AddRoute(method, params, &request)) {
      return McpFailure{.error = *std::move(problem), .refused = true};
    }
    request.body = WriteJsonRpc(message);
    AnswerReader answer(id, options_.max_message_bytes, [&](const JsonRpcMessage& other) {
      if (std::optional<JsonRpcMessage> reply = receive_(other)) Post(*std::move(reply));
    });
    request.on_headers = [&](const HttpResponse& head) {
      KeepSession(head);
      answer.Begin(head);
    };
    request.on_data = [&](std::string_view bytes) { return answer.Feed(bytes); };
    const Result<HttpResponse> response = HttpFetch(request, limits.stop);
    if (!response.ok()) {
      const bool gone = response.error().code() == ErrorCode::kUnavailable;
      if (gone) broken_ = true;
      return McpFailure{.error = response.error(), .session_lost = gone};
    }
    answer.End();
    if (response->status >= 200 && response->status < 300) {
      if (answer.outcome()) return RedactedErrors(*answer.outcome(), options_.secrets);
      if (!id) return Json();
      return McpFailure{Error(
          ErrorCode::kUnavailable,
          answer.too_large()
              ? fmt::format("{}: a message of more than {} bytes", options_.url,
                            options_.max_message_bytes)
              : fmt::format("{}: the server's reply to {} holds no answer", options_.url, method))};
    }
    return Refusal(*response, answer, had_session);
  }

  // What a status other than success means.
  McpOutcome Refusal(const HttpResponse& response, const AnswerReader& answer, bool had_session) {
    const int status = response.status;
    auto shown = [&](std::string_view text) {
      return Utf8Lossy(Redacted(std::string(Trim(text)), options_.secrets).substr(0, kShownBody));
    };
    const std::string body = shown(answer.body());
    auto failure = [&](ErrorCode code, std::string what) {
      return McpFailure{.error = Error(code, fmt::format("{}: {}", options_.url, what)),
                        .refused = true};
    };
    if (status == 401 || status == 403) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("the server refuses the credentials (status {}); give them in the "
                                 "tool's setting headers, e.g. headers = [\"Authorization: Bearer "
                                 "env:MY_TOKEN\"]",
                                 status));
    }
    // Some servers say 400 where the protocol wants 404.
    if (had_session && (status == 404 || (status == 400 && body.find("ession") != body.npos))) {
      broken_ = true;
      McpFailure lost = failure(ErrorCode::kUnavailable, "the server no longer knows the session");
      lost.session_lost = true;
      return lost;
    }
    if (status >= 300 && status < 400) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("the server redirects (status {}) to \"{}\"; write the address "
                                 "that is meant as url",
                                 status, shown(response.Header("location"))));
    }
    if (status == 408 || status == 429 || status >= 500) {
      McpFailure busy = failure(ErrorCode::kUnavailable,
                                fmt::format("the server answers with status {}: {}", status, body));
      busy.refused = status == 429;
      busy.retry_after =
          ParseRetryAfter(response.Header("retry-after"), static_cast<int64_t>(std::time(nullptr)));
      return busy;
    }
    if (answer.outcome() && std::holds_alternative<JsonRpcError>(*answer.outcome())) {
      return *answer.outcome();
    }
    if (status == 404 || status == 405) {
      return failure(ErrorCode::kNotFound,
                     fmt::format("there is no MCP server of the streamable HTTP kind at this "
                                 "address (status {})",
                                 status));
    }
    return failure(ErrorCode::kUnavailable,
                   fmt::format("the server answers with status {}: {}", status, body));
  }

  bool HasSession() const {
    const MutexLock lock(mutex_);
    return !session_.empty();
  }

  void KeepSession(const HttpResponse& head) {
    const std::string_view session = head.Header("mcp-session-id");
    if (head.status != 200 || !IsVisibleAscii(session)) return;
    const MutexLock lock(mutex_);
    if (session_.empty()) session_ = session;
  }

  void PostAll(const std::stop_token& stop) {
    while (true) {
      std::optional<JsonRpcMessage> message;
      {
        MutexLock lock(mutex_);
        changed_.wait(lock, stop, [&]() HONE_REQUIRES(mutex_) { return !unsent_.empty(); });
        if (stop.stop_requested()) return;
        message = std::move(unsent_.front());
        unsent_.pop_front();
      }
      (void)Exchange(*message, std::nullopt, "", nullptr, {kPostTime, stop});
    }
  }

  const McpHttpOptions options_;
  const McpReceive receive_;
  std::atomic<bool> broken_ = false;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<JsonRpcMessage> unsent_ HONE_GUARDED_BY(mutex_);
  std::string version_ HONE_GUARDED_BY(mutex_);
  std::string session_ HONE_GUARDED_BY(mutex_);

  std::jthread poster_;  // the last member: it uses all of the above
};

}  // namespace

std::optional<milliseconds> ParseRetryAfter(std::string_view value, int64_t now_s) {
  int64_t seconds = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, seconds);
  if (value.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
    std::tm date{};
    const std::string text(value);
    const char* rest = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
    if (rest == nullptr || *rest != 0) return std::nullopt;
    seconds = static_cast<int64_t>(::timegm(&date)) - now_s;
  }
  const int64_t longest =
      std::chrono::duration_cast<std::chrono::seconds>(kLongestRetryAfter).count();
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, longest));
}

Result<std::unique_ptr<McpTransport>> NewMcpHttp(const McpHttpOptions& options,
                                                 McpReceive receive) {
  return std::unique_ptr<McpTransport>(
      std::make_unique<HttpTransport>(options, std::move(receive)));
}

}  // namespace hone
