#include "envs/openenv/openenv_session.h"

#include <fmt/format.h>

#include "base/http_client.h"
#include "base/utf8.h"
#include "envs/openenv/web_socket.h"

namespace hone {
namespace {

using std::chrono::milliseconds;

constexpr size_t kShownBytes = 300;

std::string ShownText(std::string_view text) {
  return Utf8Lossy(text.substr(0, kShownBytes)) + (text.size() > kShownBytes ? "..." : "");
}

Error NotTheProtocol(std::string_view what, const Json& json) {
  return Error(ErrorCode::kParse, fmt::format("the server's answer {}: {}", what,
                                              ShownText(DumpJson(json, JsonStyle::kSpaced))));
}

Result<OpenEnvObservation> ObservationOf(const Json& json) {
  const Json* observation = json.Find("observation");
  if (observation == nullptr || !observation->is_object()) {
    return NotTheProtocol("has no object \"observation\"", json);
  }
  OpenEnvObservation read{.observation = *observation};
  if (const Json* reward = json.Find("reward")) {
    if (reward->is_bool()) {
      read.reward = reward->AsBool() ? 1.0 : 0.0;
    } else if (reward->is_number() || reward->is_null()) {
      read.reward = *reward;
    } else {
      return NotTheProtocol("has a \"reward\" that is no number", json);
    }
  }
  if (const Json* done = json.Find("done")) {
    if (!done->is_bool()) return NotTheProtocol("has a \"done\" that is not true or false", json);
    read.done = done->AsBool();
  }
  return read;
}

class OverWebSocket final : public OpenEnvSession {
 public:
  OverWebSocket(std::unique_ptr<WebSocket> socket, milliseconds deadline)
      : socket_(std::move(socket)), deadline_(deadline) {}

  Result<OpenEnvObservation> Reset(const Json& parameters) override {
    HONE_ASSIGN_OR_RETURN(const Json data,
                          Ask(Json::Of({{"type", "reset"}, {"data", parameters}}), "observation"));
    return ObservationOf(data);
  }
  Result<OpenEnvObservation> Step(const Json& action) override {
    HONE_ASSIGN_OR_RETURN(const Json data,
                          Ask(Json::Of({{"type", "step"}, {"data", action}}), "observation"));
    return ObservationOf(data);
  }
  Result<Json> State() override { return Ask(Json::Of({{"type", "state"}}), "state"); }

 private:
  Result<Json> Ask(const Json& message, std::string_view type) {
    // A server without room says so and hangs up: what it said is read even then.
    const Result<void> sent = socket_->Send(DumpJson(message), deadline_);
    const Result<std::string> text = socket_->Receive(deadline_);
    if (!text.ok()) return sent.ok() ? text.error() : sent.error();
    HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(*text));
    const Json *said = json.Find("type"), *data = json.Find("data");
    if (said == nullptr || data == nullptr) return NotTheProtocol("has no type and data", json);
    if (*said == Json(type)) return *data;
    if (*said != Json("error")) return NotTheProtocol("is of another type", json);
    return ErrorOf(*data);
  }

  static Error ErrorOf(const Json& data) {
    const Json *message = data.Find("message"), *code = data.Find("code");
    const std::string name = code != nullptr && code->is_string() ? code->AsString() : "";
    std::string text = message != nullptr && message->is_string() ? message->AsString() : name;
    if (const Json* errors = data.Find("errors")) text += ": " + ShownText(DumpJson(*errors));
    return Error(name == "VALIDATION_ERROR"   ? ErrorCode::kInvalidArgument
                 : name == "CAPACITY_REACHED" ? ErrorCode::kFull
                                              : ErrorCode::kUnavailable,
                 text);
  }

  const std::unique_ptr<WebSocket> socket_;
  const milliseconds deadline_;
};

Result<Json> FetchJson(HttpRequest request) {
  HONE_ASSIGN_OR_RETURN(const HttpResponse response, HttpFetch(request));
  if (response.status != 200) {
    // 422: the action does not fit the server's schema.
    return Error(response.status == 422   ? ErrorCode::kInvalidArgument
                 : response.status == 404 ? ErrorCode::kNotFound
                                          : ErrorCode::kUnavailable,
                 fmt::format("HTTP {}: {}", response.status, ShownText(response.body)));
  }
  return ParseJson(response.body);
}

class OverHttp final : public OpenEnvSession {
 public:
  OverHttp(std::string url, milliseconds deadline) : url_(std::move(url)), deadline_(deadline) {}

  Result<OpenEnvObservation> Reset(const Json& parameters) override {
    HONE_ASSIGN_OR_RETURN(const Json json, Post("/reset", parameters));
    return ObservationOf(json);
  }
  Result<OpenEnvObservation> Step(const Json& action) override {
    HONE_ASSIGN_OR_RETURN(const Json json, Post("/step", Json::Of({{"action", action}})));
    return ObservationOf(json);
  }
  Result<Json> State() override {
    return FetchJson({.url = url_ + "/state", .deadline = deadline_});
  }

 private:
  Result<Json> Post(const std::string& path, const Json& body) const {
    return FetchJson({.method = "POST",
                      .url = url_ + path,
                      .headers = {{"Content-Type", "application/json"}},
                      .body = DumpJson(body),
                      .deadline = deadline_});
  }

  const std::string url_;
  const milliseconds deadline_;
};

}  // namespace

Result<std::unique_ptr<OpenEnvSession>> NewOpenEnvWebSocket(const std::string& url,
                                                            milliseconds deadline) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<WebSocket> socket,
                        WebSocket::Connect(url + "/ws", deadline));
  return std::unique_ptr<OpenEnvSession>(
      std::make_unique<OverWebSocket>(std::move(socket), deadline));
}

std::unique_ptr<OpenEnvSession> NewOpenEnvHttp(const std::string& url, milliseconds deadline) {
  return std::make_unique<OverHttp>(url, deadline);
}

Result<Json> OpenEnvActionSchema(const std::string& url, milliseconds deadline) {
  HONE_ASSIGN_OR_RETURN(const Json json, FetchJson({.url = url + "/schema", .deadline = deadline}));
  const Json* action = json.Find("action");
  if (action == nullptr) return NotTheProtocol("has no schema of actions", json);
  return *action;
}

}  // namespace hone
