#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/recipe.h"
#include "base/result.h"
#include "tools/mcp/mcp_options.h"

namespace hone {

// MCP servers as other programs write them down:
//
//   {"mcpServers": {"files": {"command": "npx", "args": ["-y", "server"], "env": {"ROOT": "/tmp"}},
//                   "weather": {"type": "http", "url": "https://example.com/mcp",
//                               "headers": {"Authorization": "Bearer ${TOKEN}"}}}}
//
// or under "servers", or under "mcp" and then "servers", as editors have them. "${NAME}",
// "${env:NAME}" and "${NAME:-default}" stand for environment variables. Servers with "disabled":
// true are left out, and keys that say nothing about reaching a server are passed over.
struct McpConfigServer {
  std::string name;
  McpOptions options;  // variables not yet replaced
};

// The error names the server and the key.
Result<std::vector<McpConfigServer>> ReadMcpConfig(const Json& config);

// Its variables replaced; what they stood for is secret, and so is what stands under a name of a
// credential.
Result<McpOptions> WithVariables(const McpConfigServer& server,
                                 const ReadVariable& read = EnvironmentVariable);

}  // namespace hone
