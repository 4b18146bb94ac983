#include "tools/mcp/mcp_client.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace hone {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// What we ask for, and what else we take.
constexpr char kNewestVersion[] = "2025-11-25";
constexpr std::array<std::string_view, 4> kVersions = {kNewestVersion, "2025-06-18", "2025-03-26",
                                                       "2024-11-05"};
constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{10000};
constexpr int kMaxPages = 1000;

Json ClientInfo() { return Json::Of({{"name", "hone"}, {"version", HONE_VERSION}}); }

// The stateless version says in every request who asks.
Json WithMeta(Json params) {
  params.Set("_meta", Json::Of({{"io.modelcontextprotocol/protocolVersion", kMcpStatelessVersion},
                                {"io.modelcontextprotocol/clientInfo", ClientInfo()},
                                {"io.modelcontextprotocol/clientCapabilities", Json::Of({})}}));
  return params;
}

milliseconds Left(SteadyClock::time_point end) {
  return std::max(milliseconds(0),
                  std::chrono::duration_cast<milliseconds>(end - SteadyClock::now()));
}

bool IsLate(const Error& error) {
  return error.code() == ErrorCode::kDeadline || error.code() == ErrorCode::kStopped;
}

// What the server says of its own accord.
std::optional<JsonRpcMessage> Receive(const JsonRpcMessage& message,
                                      std::atomic<int64_t>* list_changes) {
  if (const auto* notification = std::get_if<JsonRpcNotification>(&message)) {
    if (notification->method == "notifications/tools/list_changed") ++*list_changes;
    return std::nullopt;
  }
  const auto* request = std::get_if<JsonRpcRequest>(&message);
  if (request == nullptr) return std::nullopt;
  if (request->method == "ping") return JsonRpcResponse{request->id, Json::Of({})};
  return JsonRpcErrorResponse{
      request->id, {kJsonRpcMethodNotFound, "this client does not offer " + request->method, {}}};
}

// An outcome of a step of connecting, as the failure it is; nothing when it is a result.
std::optional<McpFailure> FailureOf(const McpOutcome& outcome, const std::string& step) {
  if (const auto* failure = std::get_if<McpFailure>(&outcome)) return *failure;
  if (const auto* error = std::get_if<JsonRpcError>(&outcome)) {
    return McpFailure{Error(
        ErrorCode::kUnavailable,
        fmt::format("the server answers {} with error {}: {}", step, error->code, error->message))};
  }
  return std::nullopt;
}

bool Contains(const Json* list, std::string_view text) {
  if (list == nullptr || !list->is_array()) return false;
  const Json::Array& elements = list->AsArray();
  return std::find(elements.begin(), elements.end(), Json(text)) != elements.end();
}

}  // namespace

struct McpClient::Connection {
  std::unique_ptr<McpTransport> transport;
  std::string version;
  std::atomic<int64_t> next_id{1};
  std::atomic<bool> answered{false};  // something, after the handshake
};

McpClient::McpClient(McpConnect connect, McpClientOptions options)
    : connect_(std::move(connect)),
      options_(options),
      list_changes_(std::make_shared<std::atomic<int64_t>>(0)) {}

McpClient::~McpClient() = default;

int64_t McpClient::connections() const {
  const MutexLock lock(mutex_);
  return connections_;
}

std::string McpClient::version() const {
  const MutexLock lock(mutex_);
  return connection_ ? connection_->version : "";
}

Result<std::vector<Json>> McpClient::ListTools(const McpLimits& limits) {
  const auto end = SteadyClock::now() + limits.time;
  std::vector<Json> tools;
  std::optional<std::string> cursor;
  for (int page = 0; page < kMaxPages; ++page) {
    Json params = Json::Of({});
    if (cursor) params.Set("cursor", *cursor);
    const McpOutcome outcome = Ask("tools/list", params, {Left(end), limits.stop});
    if (const auto failure = FailureOf(outcome, "tools/list")) return failure->error;
    const Json& result = std::get<Json>(outcome);
    const Json* list = result.Find("tools");
    if (list == nullptr || !list->is_array()) {
      return Error(ErrorCode::kUnavailable, "the server's answer to tools/list has no \"tools\"");
    }
    tools.insert(tools.end(), list->AsArray().begin(), list->AsArray().end());
    const Json* next = result.Find("nextCursor");
    if (next == nullptr || next->is_null()) return tools;
    if (!next->is_string() || next->AsString() == cursor) {
      return Error(ErrorCode::kUnavailable,
                   "the server's tools/list does not get on: its "
                   "\"nextCursor\" is no text or stays the same");
    }
    cursor = next->AsString();
  }
  return Error(ErrorCode::kUnavailable,
               fmt::format("the server's tools/list has more than {} pages", kMaxPages));
}

McpOutcome McpClient::CallTool(std::string_view name, const Json& arguments,
                               const McpLimits& limits) {
  McpOutcome outcome =
      Ask("tools/call", Json::Of({{"name", name}, {"arguments", arguments}}), limits);
  if (const auto* result = std::get_if<Json>(&outcome)) {
    const Json* type = result->Find("resultType");
    if (type != nullptr && *type != Json("complete")) {
      return McpFailure{Error(ErrorCode::kUnsupported,
                              fmt::format("{}: the server wants more input ({}), which this client "
                                          "does not give",
                                          name, DumpJson(*type)))};
    }
  }
  return outcome;
}

McpOutcome McpClient::CallToolAsTask(std::string_view name, const Json& arguments,
                                     const McpLimits& limits) {
  const auto end = SteadyClock::now() + limits.time;
  const Json params = Json::Of({{"name", name},
                                {"arguments", arguments},
                                {"task", Json::Of({{"ttl", int64_t{limits.time.count()}}})}});
  McpOutcome begun = Ask("tools/call", params, limits);
  const Json* result = std::get_if<Json>(&begun);
  if (result == nullptr) return begun;
  const Json* task = result->Find("task");
  const Json* id = task != nullptr ? task->Find("taskId") : nullptr;
  if (id == nullptr || !id->is_string()) return begun;  // it was done at once, or refused
  const Json which = Json::Of({{"taskId", *id}});
  // The server answers when the task has ended.
  McpOutcome outcome = Ask("tasks/result", which, {Left(end), limits.stop});
  if (auto* failure = std::get_if<McpFailure>(&outcome)) {
    failure->refused = false;  // the question was not seen, perhaps; the task was begun
    if (IsLate(failure->error)) PostRequest("tasks/cancel", which);
  }
  return outcome;
}

void McpClient::PostRequest(const std::string& method, const Json& params) {
  std::shared_ptr<Connection> connection;
  {
    const MutexLock lock(mutex_);
    connection = connection_;
  }
  if (connection == nullptr) return;
  connection->transport->Post(JsonRpcRequest{connection->next_id++, method, params});
}

McpOutcome McpClient::Ask(const std::string& method, const Json& params, const McpLimits& limits) {
  const auto end = SteadyClock::now() + limits.time;
  for (int attempt = 0;; ++attempt) {
    const Connected connected = Current(end, limits.stop);
    if (const auto* failure = std::get_if<McpFailure>(&connected)) return *failure;
    const auto& connection = std::get<std::shared_ptr<Connection>>(connected);
    McpOutcome outcome = AskOver(connection.get(), method, params, {Left(end), limits.stop});
    const auto* failure = std::get_if<McpFailure>(&outcome);
    if (failure == nullptr) {
      connection->answered = true;
    } else if (failure->refused && failure->session_lost && attempt == 0 && options_.restart) {
      continue;  // it was not seen, and there is a new connection to be had
    }
    return outcome;
  }
}

McpOutcome McpClient::AskOver(Connection* connection, const std::string& method, Json params,
                              const McpLimits& limits) {
  const JsonRpcId id = connection->next_id++;
  if (connection->version == kMcpStatelessVersion) params = WithMeta(std::move(params));
  McpOutcome outcome = connection->transport->Ask({id, method, std::move(params)}, limits);
  const auto* failure = std::get_if<McpFailure>(&outcome);
  // The protocol lets everything be cancelled but the first request.
  if (failure != nullptr && IsLate(failure->error) && !failure->refused && method != "initialize") {
    const bool stopped = failure->error.code() == ErrorCode::kStopped;
    connection->transport->Post(JsonRpcNotification{
        "notifications/cancelled",
        Json::Of({{"requestId", std::visit([](const auto& value) { return Json(value); }, id)},
                  {"reason", stopped ? "stopped" : "timed out"}})});
  }
  return outcome;
}

McpClient::Connected McpClient::Current(TimePoint end, const std::stop_token& stop) {
  std::shared_ptr<Connection> dead;  // taken down after the lock is given back
  MutexLock lock(mutex_);
  if (connection_ && connection_->transport->alive()) return connection_;
  if (connections_ > 0 && !options_.restart) {
    return McpFailure{.error = Error(ErrorCode::kUnavailable,
                                     "the server that held this session's state is gone"),
                      .refused = true,
                      .session_lost = true};
  }
  if (connection_) {
    dead = std::exchange(connection_, nullptr);
    if (dead->answered) {
      failures_ = 0;
      not_before_ = {};
    } else {
      CountFailure();
    }
  }
  if (!starting_) {
    if (not_before_ >= end && last_failure_) {
      McpFailure failure = *last_failure_;
      failure.refused = true;
      failure.retry_after = Left(not_before_);
      return failure;
    }
    starting_ = true;
    starter_ = std::jthread([this](const std::stop_token& stopped) { Start(stopped); });
  }
  const int64_t round = rounds_;
  if (!changed_.wait_until(lock, stop, end,
                           [&]() HONE_REQUIRES(mutex_) { return rounds_ != round; })) {
    return McpFailure{
        .error = Error(stop.stop_requested() ? ErrorCode::kStopped : ErrorCode::kDeadline,
                       "the server is still being started"),
        .refused = true};
  }
  if (connection_) return connection_;
  // Where it was started and has ended again, whoever was there first has noticed.
  McpFailure failure = last_failure_
                           ? *last_failure_
                           : McpFailure{Error(ErrorCode::kUnavailable,
                                              "the server ended as soon as it was started")};
  failure.refused = true;  // the call itself was never sent
  return failure;
}

void McpClient::Start(const std::stop_token& stop) {
  {
    MutexLock lock(mutex_);
    changed_.wait_until(lock, stop, not_before_, [] { return false; });
  }
  Connected opened = Open(stop);
  const MutexLock lock(mutex_);
  starting_ = false;
  ++rounds_;
  if (auto* connection = std::get_if<std::shared_ptr<Connection>>(&opened)) {
    connection_ = std::move(*connection);
    ++connections_;
  } else {
    last_failure_ = std::get<McpFailure>(std::move(opened));
    CountFailure();
  }
  changed_.notify_all();
}

void McpClient::CountFailure() {
  const milliseconds pause = std::min(kLongestPause, kFirstPause * (1 << std::min(failures_, 10)));
  ++failures_;
  not_before_ = SteadyClock::now() + pause;
}

McpClient::Connected McpClient::Open(const std::stop_token& stop) {
  Result<std::unique_ptr<McpTransport>> transport =
      connect_([changes = list_changes_](const JsonRpcMessage& message) {
        return Receive(message, changes.get());
      });
  if (!transport.ok()) return McpFailure{transport.error()};
  auto connection = std::make_shared<Connection>();
  connection->transport = *std::move(transport);
  if (auto failure = Handshake(connection.get(), {options_.startup, stop})) {
    return *std::move(failure);
  }
  return connection;
}

std::optional<McpFailure> McpClient::Handshake(Connection* connection, const McpLimits& limits) {
  const auto end = SteadyClock::now() + limits.time;
  const McpOutcome outcome = AskOver(connection, "initialize",
                                     Json::Of({{"protocolVersion", kNewestVersion},
                                               {"capabilities", Json::Of({})},
                                               {"clientInfo", ClientInfo()}}),
                                     limits);
  if (auto failure = FailureOf(outcome, "initialize")) {
    // A server that can be talked to but knows no handshake may speak the version without one.
    if (!std::holds_alternative<JsonRpcError>(outcome)) return failure;
    return Discover(connection, {Left(end), limits.stop}, failure->error.message());
  }
  const Json* version = std::get<Json>(outcome).Find("protocolVersion");
  if (version == nullptr || !version->is_string() ||
      std::find(kVersions.begin(), kVersions.end(), version->AsString()) == kVersions.end()) {
    return McpFailure{
        Error(ErrorCode::kVersion,
              fmt::format("the server speaks version {} of MCP; this client speaks {} and {}",
                          version == nullptr ? "?" : DumpJson(*version), fmt::join(kVersions, ", "),
                          kMcpStatelessVersion))};
  }
  connection->version = version->AsString();
  connection->transport->SetVersion(connection->version);
  const Result<void> told =
      connection->transport->Tell({"notifications/initialized", {}}, {Left(end), limits.stop});
  if (!told.ok()) return McpFailure{told.error()};
  return std::nullopt;
}

std::optional<McpFailure> McpClient::Discover(Connection* connection, const McpLimits& limits,
                                              const std::string& why) {
  connection->version = kMcpStatelessVersion;
  connection->transport->SetVersion(connection->version);
  const McpOutcome outcome = AskOver(connection, "server/discover", Json::Of({}), limits);
  const Json* result = std::get_if<Json>(&outcome);
  if (result != nullptr && Contains(result->Find("supportedVersions"), kMcpStatelessVersion)) {
    return std::nullopt;
  }
  return McpFailure{Error(ErrorCode::kVersion,
                          fmt::format("no version of MCP to agree on: {}, and it does not offer {}",
                                      why, kMcpStatelessVersion))};
}

}  // namespace hone
