#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "tools/mcp/mcp_transport.h"

namespace hone {

struct McpClientOptions {
  std::chrono::milliseconds startup{30000};  // for connecting and agreeing on a version
  // Whether a server that is gone is connected to again. If not, every later call says that the
  // session is lost: for servers that hold a trajectory's state.
  bool restart = true;
};

// The client's half of the Model Context Protocol, as far as tools go.
//
// Versions: 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25 by their handshake, else 2026-07-28,
// which has none. The server is told of no abilities of ours: what it asks of us (other than ping)
// is answered with an error. A request that runs out of time or is stopped is cancelled at the
// server.
//
// A connection is made by the first call that needs one and goes on even when that call runs out of
// time. When a connection is lost, the next call makes another: at once if the last one had
// answered something, else after a pause that doubles from 100 ms up to 10 s. A call that the
// server certainly did not see is sent once more over the new connection.
//
// Thread-safe. No call may be under way when it is destroyed.
class McpClient {
 public:
  McpClient(McpConnect connect, McpClientOptions options);
  ~McpClient();

  // All pages of tools/list, each tool as the server describes it.
  Result<std::vector<Json>> ListTools(const McpLimits& limits);

  // tools/call; the result is a CallToolResult.
  McpOutcome CallTool(std::string_view name, const Json& arguments, const McpLimits& limits);
  // The same for a tool that runs as a task of 2025-11-25 only: begun, waited for, and cancelled
  // when it takes too long.
  McpOutcome CallToolAsTask(std::string_view name, const Json& arguments, const McpLimits& limits);

  // How often servers said that their list of tools has changed.
  int64_t list_changes() const { return *list_changes_; }
  // How many connections were made.
  int64_t connections() const;
  // The version last agreed on; empty before that.
  std::string version() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Connection;
  using Connected = std::variant<std::shared_ptr<Connection>, McpFailure>;

  Connected Current(TimePoint end, const std::stop_token& stop);
  void Start(const std::stop_token& stop);
  Connected Open(const std::stop_token& stop);
  std::optional<McpFailure> Handshake(Connection* connection, const McpLimits& limits);
  std::optional<McpFailure> Discover(Connection* connection, const McpLimits& limits,
                                     const std::string& why);
  McpOutcome AskOver(Connection* connection, const std::string& method, Json params,
                     const McpLimits& limits);
  McpOutcome Ask(const std::string& method, const Json& params, const McpLimits& limits);
  // Sends a request whose answer nobody waits for.
  void PostRequest(const std::string& method, const Json& params);
  void CountFailure() HONE_REQUIRES(mutex_);

  const McpConnect connect_;
  const McpClientOptions options_;
  // Outlives the client where a connection does.
  const std::shared_ptr<std::atomic<int64_t>> list_changes_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::shared_ptr<Connection> connection_ HONE_GUARDED_BY(mutex_);
  std::optional<McpFailure> last_failure_
      HONE_GUARDED_BY(mutex_);  // of the last attempt to connect
  bool starting_ HONE_GUARDED_BY(mutex_) = false;
  int64_t rounds_ HONE_GUARDED_BY(mutex_) = 0;  // attempts to connect that have ended
  int64_t connections_ HONE_GUARDED_BY(mutex_) = 0;
  int failures_ HONE_GUARDED_BY(mutex_) = 0;  // in a row
  TimePoint not_before_ HONE_GUARDED_BY(mutex_){};

  std::jthread starter_;  // the last member: it uses all of the above
};

}  // namespace hone
