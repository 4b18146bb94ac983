#pragma once

#include <string>
#include <vector>

#include "tools/mcp/mcp_transport.h"

namespace hone {

struct McpStdioOptions {
  std::vector<std::string> command;
  std::string directory;                 // working directory; empty: ours
  std::vector<std::string> environment;  // "NAME=value": all that the server gets
  std::vector<std::string> secrets;      // blotted out of what the server says in error messages
  size_t max_message_bytes = 16 << 20;   // a longer line ends the connection
};

// A server that is a program of ours: one message per line on its standard input and output. When
// it dies, or says a line that is too long, every request ends at once. Lines that are no messages
// are passed over; the last one, and the end of its standard error, stand in the messages of
// failures. Destroying the transport closes the server's input, then kills its process group.
Result<std::unique_ptr<McpTransport>> NewMcpStdio(const McpStdioOptions& options,
                                                  McpReceive receive);

}  // namespace hone
