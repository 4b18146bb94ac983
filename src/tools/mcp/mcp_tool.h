#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "tools/mcp/mcp_transport.h"
#include "tools/tool_spec.h"
#include "tools/toolkit.h"

namespace hone {

// What MCP says of tools and of their results, in Hone's own terms.

// A tool of tools/list. The server's hints say what a call does:
//
//   readOnlyHint                          reads
//   destructiveHint, not idempotentHint   irreversible
//   anything else, or nothing said        writes: it is never carried out twice
//
// A schema of arguments that Hone cannot compile (remote documents, custom vocabularies) is not
// checked: the tool takes any object, and its description tells the schema to whoever calls it.
// An output schema that cannot be compiled is left out.
Result<ToolSpec> ToolSpecFromMcp(const Json& tool);

// Whether the tool can be called as a task only.
bool NeedsTask(const Json& tool);

// What the agent reads of a CallToolResult: the structured content as JSON where the tool promises
// a schema for it or there is nothing else; else the blocks, one below the other, texts as they are
// and images, audio and resources described.
std::string McpResultText(const Json& result, bool has_output_schema);

// A call's outcome. `isError`, and errors that blame the arguments, are the agent's to mend.
ToolReply ReplyOfMcp(const McpOutcome& outcome, bool has_output_schema);

}  // namespace hone
