#include "rollout/remote_engine.h"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/http_client.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "rollout/remote_folder.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

constexpr size_t kSaidBytes = 300;  // of what a server says is wrong
constexpr milliseconds kFirstPause{500}, kLongestPause{15'000};
constexpr milliseconds kKnock{10'000};
constexpr milliseconds kLook{50};  // how often somebody is asked whether to stop

// Before attempt `attempt` + 1: twice as long each time. A server that is only full asks for a
// second again and again: it may make a pause longer, and not shorter.
milliseconds PauseAfter(int64_t attempt, const std::optional<milliseconds>& asked) {
  const milliseconds own = kFirstPause * (int64_t{1} << std::min<int64_t>(attempt, 5));
  return std::min(kLongestPause, std::max(own, asked.value_or(own)));
}

// False where it was stopped.
bool Pause(milliseconds length, const std::stop_token& stop) {
  Mutex mutex;
  ConditionVariable changed;
  MutexLock lock(mutex);
  changed.wait_for(lock, stop, length, [] { return false; });
  return !stop.stop_requested();
}

bool MayBeMended(int status) { return status == 408 || status == 429 || status >= 500; }
bool MayBeMended(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kDeadline;
}

Error Stopped() { return Error(ErrorCode::kStopped, "the rollout was stopped"); }

}  // namespace

Result<std::unique_ptr<RemoteEngine>> RemoteEngine::Open(const RemoteOptions& options, bool knock) {
  std::string key;
  if (!options.key_variable.empty()) {
    const char* value = std::getenv(options.key_variable.c_str());
    if (value == nullptr || *value == '\0') {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("policy.key_variable: the key is wanted in the environment variable "
                               "{}, which is not set",
                               options.key_variable));
    }
    key = value;
  }
  if (knock && options.push && !options.push_folder.empty()) {
    HONE_RETURN_IF_ERROR(CheckPushFolder(options.push_folder));
  }
  std::unique_ptr<RemoteEngine> engine(new RemoteEngine(options, std::move(key)));
  if (knock) HONE_RETURN_IF_ERROR(engine->Meet());
  return engine;
}

std::string RemoteEngine::Root() const {
  constexpr std::string_view kVersion = "/v1";
  const std::string& url = options_.url;
  return url.ends_with(kVersion) ? url.substr(0, url.size() - kVersion.size()) : url;
}

HttpRequest RemoteEngine::RequestTo(const std::string& url, const std::string& body) const {
  HttpRequest request{
      .url = url, .body = body, .deadline = std::chrono::seconds(options_.deadline)};
  if (!body.empty()) {
    request.method = "POST";
    request.headers.emplace_back("Content-Type", "application/json");
  }
  if (!key_.empty()) request.headers.emplace_back("Authorization", "Bearer " + key_);
  return request;
}

// What the server is: the models it has, and of our own what weights.
Result<void> RemoteEngine::Meet() {
  HttpRequest request = RequestTo(options_.url + "/models", "");
  request.deadline = kKnock;
  const Result<HttpResponse> response = HttpFetch(request);
  if (!response.ok()) {
    return Error(response.error().code(),
                 fmt::format("nobody answers at policy.url {}: {}; start the server, or say where "
                             "it is (docs/remote.md)",
                             options_.url, response.error().message()));
  }
  if (response->status == 401 || response->status == 403) {
    return Error(ErrorCode::kInvalidArgument,
                 Failure(*response) +
                     "; the key is that of the environment variable which "
                     "policy.key_variable names");
  }
  const Result<Json> answer = ParseJson(response->body);
  const Json* models = answer.ok() ? answer->Find("data") : nullptr;
  if (response->status != 200 || models == nullptr || !models->is_array()) {
    if (!options_.model.empty() || options_.api == RemoteApi::kSglang) return {};
    return Error(ErrorCode::kInvalidArgument, Failure(*response) +
                                                  "; it does not say which models it has: name one "
                                                  "(policy.model), and let policy.url end in /v1");
  }
  std::vector<std::string> names;
  for (const Json& model : models->AsArray()) {
    const Json *id = model.Find("id"), *weights = model.Find("weights");
    if (id == nullptr || !id->is_string()) continue;
    names.push_back(id->AsString());
    if (!options_.model.empty() && options_.model != names.back()) continue;
    if (weights != nullptr && weights->is_string()) weights_ = weights->AsString();
  }
  if (!options_.model.empty() || options_.api == RemoteApi::kSglang) return {};
  if (names.size() != 1) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has {} models; name one (policy.model){}{}", options_.url,
                             names.size(), names.empty() ? "" : ": ", fmt::join(names, ", ")));
  }
  options_.model = names.front();
  return {};
}

std::string RemoteEngine::Failure(const HttpResponse& response) const {
  std::string said = Utf8Lossy(response.body.substr(0, kSaidBytes));
  // Some servers repeat the key they do not like. It may be a part of what stands in its place.
  constexpr std::string_view kHidden = "[key]";
  for (size_t at = said.find(key_); !key_.empty() && at != std::string::npos;
       at = said.find(key_, at + kHidden.size())) {
    said.replace(at, key_.size(), kHidden);
  }
  return fmt::format("{} answers {}: {}", options_.url, response.status, Trim(said));
}

// Until `read` is content with the body of an answer.
Result<void> RemoteEngine::Post(const std::string& url, const std::string& body,
                                const std::function<Result<void>(std::string_view)>& read,
                                const std::stop_token& stop) const {
  const HttpRequest request = RequestTo(url, body);
  for (int64_t attempt = 0;; ++attempt) {
    if (attempt > 0) ++retries_;
    const Result<HttpResponse> response = HttpFetch(request, stop);
    if (stop.stop_requested()) return Stopped();
    std::optional<Error> failure;
    std::optional<milliseconds> asked;
    bool mended = true;
    if (!response.ok()) {
      failure = response.error();
      mended = MayBeMended(failure->code());
    } else if (response->status != 200) {
      failure = Error(ErrorCode::kUnavailable, Failure(*response));
      mended = MayBeMended(response->status);
      asked = RetryAfter(*response);
    } else if (const Result<void> fits = read(response->body); !fits.ok()) {
      failure = fits.error().In(options_.url);
      mended = MayBeMended(failure->code());
    } else {
      return {};
    }
    if (!mended) return *failure;
    if (attempt == options_.retries) {
      return Error(failure->code(),
                   fmt::format("{} ({} attempts); nothing of this step is kept, and the same "
                               "command goes on from the last checkpoint once the server answers",
                               failure->message(), attempt + 1));
    }
    if (!Pause(PauseAfter(attempt, asked), stop)) return Stopped();
  }
}

Result<SampleResult> RemoteEngine::Draw(const RemoteManner& manner, const RemoteTurn& turn,
                                        std::stop_token stop) const {
  SampleResult drawn;
  const auto read = [&](std::string_view answer) -> Result<void> {
    HONE_ASSIGN_OR_RETURN(drawn, ReadRemoteTurn(manner, turn, answer));
    return {};
  };
  const std::string url =
      manner.api == RemoteApi::kSglang ? Root() + "/generate" : options_.url + "/completions";
  HONE_RETURN_IF_ERROR(Post(url, DumpJson(RemoteBody(manner, turn)), read, stop));
  return drawn;
}

RemoteManner RemoteEngine::MannerOf(const Policy& policy) const {
  return {.api = options_.api,
          .model = options_.model,
          .stops = policy.codec().dialect().traits().stops,
          .forbidden = policy.engine().forbidden(),
          .vocabulary = policy.engine().config().vocab,
          .pushed = pushed_};
}

Result<void> RemoteEngine::Push(const std::filesystem::path& folder, int64_t version,
                                const std::function<bool()>& stop) {
  const Json body = Json::Of({{"model_path", std::filesystem::absolute(folder).string()},
                              {"weight_version", std::to_string(version)}});
  std::string loaded;
  const auto read = [&loaded](std::string_view answer) -> Result<void> {
    const Result<Json> json = ParseJson(answer);
    const Json* success = json.ok() ? json->Find("success") : nullptr;
    const Json* weights = json.ok() ? json->Find("weights") : nullptr;
    loaded = weights != nullptr && weights->is_string() ? weights->AsString() : "";
    if (success != nullptr && *success == Json(true)) return {};
    return Error(ErrorCode::kInvalidArgument,
                 "the weights were not loaded: " + Utf8Lossy(answer.substr(0, kSaidBytes)));
  };
  std::stop_source ends;
  auto pushed = std::async(std::launch::async, [&] {
    return Post(Root() + "/update_weights_from_disk", DumpJson(body), read, ends.get_token());
  });
  while (pushed.wait_for(kLook) != std::future_status::ready) {
    if (stop && stop()) ends.request_stop();
  }
  const Result<void> done = pushed.get();
  pushed_ = done.ok() ? loaded : "";
  if (done.ok() || done.error().code() == ErrorCode::kStopped) return done;
  return Error(done.error().code(),
               fmt::format("the weights could not be pushed: {}. A server that cannot take them "
                           "(hone serve without --allow-updates, vLLM) is trained beside with "
                           "policy.push = \"never\" (docs/remote.md)",
                           done.error().message()));
}

}  // namespace hone
