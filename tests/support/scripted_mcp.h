#pragma once

#include <string>

#include "tools/mcp/mcp_options.h"

namespace hone {

// The MCP server of tests/mcp/scripted_server.py, which misbehaves when told to.
inline McpOptions ScriptedMcp(const std::string& mode = "") {
  McpOptions options;
  options.command = {"python3", std::string(HONE_SOURCE_DIR) + "/tests/mcp/scripted_server.py",
                     mode};
  options.startup_ms = 20000;
  return options;
}

}  // namespace hone
