#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/mcp/mcp_secrets.h"
#include "tools/mcp/mcp_transport.h"

namespace hone {

// How to reach an MCP server, as a recipe says it.
struct McpOptions {
  std::vector<std::string> command;  // a program to run, or
  std::string url;                   // an address of streamable HTTP
  std::string directory;             // where the program runs; empty: here
  // What the program gets besides PATH, HOME and the like: "NAME=value", "NAME=env:OTHER", or
  // "NAME" to pass ours on.
  std::vector<std::string> environment;
  // "Name: value", sent with every HTTP request; "env:NAME" stands for a variable. Credentials must
  // be written like that.
  std::vector<std::string> headers;
  int64_t startup_ms = 30000;     // for starting the server and agreeing on a version
  bool per_session = false;       // a server for each trajectory, else one for all
  std::vector<std::string> only;  // the names of the tools to offer; empty: all
  // As a file of another program has it (tools/mcp/mcp_config.h): values of the environment and of
  // headers mean themselves, and credentials may stand there.
  bool literal = false;
  std::vector<std::string> secrets;  // blotted out of what the server says in error messages
};

// Problems go to the recipe.
McpOptions ReadMcpOptions(RecipeTable table);

// The connection that the options describe, with variables read now. The error names the setting.
Result<McpConnect> McpConnectionOf(const McpOptions& options,
                                   const ReadVariable& read = EnvironmentVariable);

}  // namespace hone
