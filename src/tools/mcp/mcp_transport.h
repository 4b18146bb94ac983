#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "base/json.h"
#include "base/result.h"
#include "tools/mcp/json_rpc.h"

namespace hone {

// Why a request to an MCP server got no answer.
struct McpFailure {
  Error error;
  bool refused = false;       // the server did nothing with the request, for certain
  bool session_lost = false;  // the server no longer knows us; a new connection may help
  std::optional<std::chrono::milliseconds> retry_after;
};

// What came of a request: its result, the server's own error, or no answer at all.
using McpOutcome = std::variant<Json, JsonRpcError, McpFailure>;

// How long a request may take; `stop` ends the wait at once.
struct McpLimits {
  std::chrono::milliseconds time{30000};
  std::stop_token stop;
};

// What the server says of its own accord, requests and notifications. Returns the answer to send,
// if there is one. Called from any thread; must be quick.
using McpReceive = std::function<std::optional<JsonRpcMessage>(const JsonRpcMessage&)>;

// One connection to an MCP server. When it has failed it stays so; one makes another. Thread-safe:
// many requests may be under way. Destroying it ends the connection; no request may then be under
// way.
class McpTransport {
 public:
  virtual ~McpTransport() = default;

  // Sends a request and waits for its answer: returns soon after the limits. An answer that comes
  // later, comes twice or has an id that nobody waits for is dropped. `id` is new on this
  // connection.
  virtual McpOutcome Ask(const JsonRpcRequest& request, const McpLimits& limits) = 0;

  // Sends what has no answer, and returns when the server will see it before any later request.
  virtual Result<void> Tell(const JsonRpcNotification& notification, const McpLimits& limits) = 0;

  // The same, but does not wait and cannot fail: for cancellations.
  virtual void Post(JsonRpcMessage message) = 0;

  // Which version was agreed on; some transports say it with every message.
  virtual void SetVersion(const std::string& version) = 0;

  // Whether requests can still be answered.
  virtual bool alive() const = 0;
};

// Opens a connection. `receive` may be called until the transport is destroyed.
using McpConnect = std::function<Result<std::unique_ptr<McpTransport>>(McpReceive receive)>;

// The version without a handshake, where every request says all there is to know.
inline constexpr char kMcpStatelessVersion[] = "2026-07-28";

}  // namespace hone
