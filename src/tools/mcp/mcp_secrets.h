#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/mcp/mcp_transport.h"

namespace hone {

// Credentials stand in recipes by name only: a word "env:NAME" is replaced by that environment
// variable when a server is connected to.

// The value of an environment variable; absent when it is not set.
using ReadVariable = std::function<std::optional<std::string>(const std::string& name)>;
// Of this process.
std::optional<std::string> EnvironmentVariable(const std::string& name);

// Whether some word of the text is a reference.
bool HasReference(std::string_view text);

// The text with its references replaced; what they stood for is added to *secrets. A variable that
// is not set, or is empty, is kNotFound.
Result<std::string> Resolved(std::string_view text, const ReadVariable& read,
                             std::vector<std::string>* secrets);

// The text with every secret blotted out. Secrets of fewer than 4 bytes stay: they are everywhere.
std::string Redacted(std::string text, const std::vector<std::string>& secrets);
// The same for what a server says where a call fails: errors of the protocol, and results that say
// they are errors. Other results are the tool's own.
McpOutcome RedactedErrors(McpOutcome outcome, const std::vector<std::string>& secrets);

}  // namespace hone
