#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/mcp/mcp_transport.h"

namespace hone {

struct McpHttpOptions {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // with every request; may be secret
  std::vector<std::string> secrets;     // blotted out of what the server says in error messages
  size_t max_message_bytes = 16 << 20;  // a longer message is refused
};

// A server behind MCP's streamable HTTP: a POST per message, answered by one message or by a stream
// of events that ends with the answer. Redirects are not followed, since they would take the
// credentials along. What statuses mean:
//
//   401, 403       kInvalidArgument, naming the setting for credentials; refused
//   404            with a session: session_lost, refused (as is a 400 that speaks of the session)
//   408, 429, 5xx  kUnavailable with the server's Retry-After; 429 is refused
//
// There is no connection to lose: it is broken when the session is lost or nobody answers.
// Destroying the transport ends the session at the server (DELETE). The stream of what a server
// says outside requests (GET) is not opened.
Result<std::unique_ptr<McpTransport>> NewMcpHttp(const McpHttpOptions& options, McpReceive receive);

// What a Retry-After header asks for: seconds, or the time until an HTTP date (`now` in Unix time).
std::optional<std::chrono::milliseconds> ParseRetryAfter(std::string_view value, int64_t now_s);

}  // namespace hone
