#pragma once

#include <memory>

#include "base/result.h"
#include "tools/mcp/mcp_options.h"
#include "tools/toolkit.h"

namespace hone {

// The tools of an MCP server. They are listed once, here; a server that changes its list later is
// not listened to. Fails when the server cannot be reached, has no tools, or lacks one of `only`.
//
// One server for all: its state is the world's, so that a session cannot be had twice
// (Sharing::kOnce); when it dies it is started again. A server for each session: replaying the
// calls makes an equal one; when it dies, the session is lost.
Result<std::shared_ptr<Toolkit>> NewMcpToolkit(const McpOptions& options);

// The same over any connection.
Result<std::shared_ptr<Toolkit>> NewMcpToolkitOver(McpConnect connect, const McpOptions& options);

}  // namespace hone
