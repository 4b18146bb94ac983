#include "tools/mcp/mcp_config.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace hone {
namespace {

Error WrongAt(const std::string& server, std::string_view key, std::string_view text) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("server \"{}\": {}: {}", server, key, text));
}

Result<std::string> ConfigText(const std::string& server, const Json& entry, const char* key) {
  const Json* value = entry.Find(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return WrongAt(server, key, "wants a text");
  return value->AsString();
}

// {"NAME": "value"} as lines with the separator that options have.
Result<std::vector<std::string>> ConfigPairs(const std::string& server, const Json& entry,
                                             const char* key, const char* separator) {
  std::vector<std::string> lines;
  const Json* pairs = entry.Find(key);
  if (pairs == nullptr) return lines;
  if (!pairs->is_object()) return WrongAt(server, key, "wants an object of texts");
  for (const auto& [name, value] : pairs->AsObject()) {
    if (!value.is_string() && !value.is_number() && !value.is_bool()) {
      return WrongAt(server, fmt::format("{}.{}", key, name), "wants a text");
    }
    lines.push_back(name + separator + (value.is_string() ? value.AsString() : DumpJson(value)));
  }
  return lines;
}

Result<void> CheckTransport(const std::string& server, const std::string& type, bool has_url) {
  if (type == "sse") {
    return WrongAt(server, "type",
                   "the older HTTP+SSE transport is not spoken; most such servers have streamable "
                   "HTTP at another address (type \"http\", often /mcp)");
  }
  const bool http = type == "http" || type == "streamable-http" || type == "streamableHttp";
  if (!type.empty() && type != "stdio" && !http) {
    return WrongAt(server, "type", fmt::format("\"{}\" is not one of stdio, http", type));
  }
  if (!type.empty() && http != has_url) {
    return WrongAt(server, "type",
                   fmt::format("\"{}\" wants {}", type, http ? "a url" : "a command and no url"));
  }
  return {};
}

Result<McpOptions> ReadServer(const std::string& name, const Json& entry) {
  if (!entry.is_object()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("server \"{}\" wants an object with a command or a url", name));
  }
  McpOptions options{.literal = true};
  HONE_ASSIGN_OR_RETURN(const std::string program, ConfigText(name, entry, "command"));
  HONE_ASSIGN_OR_RETURN(options.url, ConfigText(name, entry, "url"));
  HONE_ASSIGN_OR_RETURN(options.directory, ConfigText(name, entry, "cwd"));
  HONE_ASSIGN_OR_RETURN(const std::string type, ConfigText(name, entry, "type"));
  if (program.empty() == options.url.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("server \"{}\" wants a command or a url, one of them", name));
  }
  HONE_RETURN_IF_ERROR(CheckTransport(name, type, !options.url.empty()));
  if (!program.empty()) options.command = {program};
  if (const Json* arguments = entry.Find("args"); arguments != nullptr && !program.empty()) {
    if (!arguments->is_array()) return WrongAt(name, "args", "wants a list of texts");
    for (const Json& argument : arguments->AsArray()) {
      if (!argument.is_string()) return WrongAt(name, "args", "wants a list of texts");
      options.command.push_back(argument.AsString());
    }
  }
  if (!program.empty()) {
    HONE_ASSIGN_OR_RETURN(options.environment, ConfigPairs(name, entry, "env", "="));
  } else {
    HONE_ASSIGN_OR_RETURN(options.headers, ConfigPairs(name, entry, "headers", ": "));
  }
  return options;
}

const Json* ServersIn(const Json& config) {
  for (const char* key : {"mcpServers", "servers"}) {
    if (const Json* servers = config.Find(key)) return servers;
  }
  const Json* settings = config.Find("mcp");
  return settings == nullptr || !settings->is_object() ? nullptr : settings->Find("servers");
}

// What stands between "${" and "}": a variable, perhaps with what it is where it is not set.
Result<std::string> ValueOfReference(std::string_view reference, const ReadVariable& read) {
  if (reference.starts_with("env:")) reference.remove_prefix(4);
  const size_t otherwise = reference.find(":-");
  const std::string name(reference.substr(0, otherwise));
  if (name.starts_with("input:") || name.find(':') != std::string::npos ||
      name == "workspaceFolder" || name == "userHome") {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("${{{}}} is filled in by an editor; write ${{NAME}} and set that "
                             "environment variable",
                             name));
  }
  if (const std::optional<std::string> value = read(name); value && !value->empty()) return *value;
  if (otherwise != std::string_view::npos) return std::string(reference.substr(otherwise + 2));
  return Error(ErrorCode::kNotFound, fmt::format("the environment variable {} is not set", name));
}

Result<void> Replace(const ReadVariable& read, std::vector<std::string>* secrets,
                     std::string* text) {
  size_t from = 0;
  for (;;) {
    const size_t begin = text->find("${", from);
    const size_t end = begin == std::string::npos ? begin : text->find('}', begin);
    if (end == std::string::npos) return {};
    HONE_ASSIGN_OR_RETURN(
        const std::string value,
        ValueOfReference(std::string_view(*text).substr(begin + 2, end - begin - 2), read));
    text->replace(begin, end + 1 - begin, value);
    secrets->push_back(value);
    from = begin + value.size();  // what a variable says is not looked at again
  }
}

}  // namespace

Result<std::vector<McpConfigServer>> ReadMcpConfig(const Json& config) {
  const Json* servers = config.is_object() ? ServersIn(config) : nullptr;
  if (servers == nullptr || !servers->is_object()) {
    return Error(ErrorCode::kInvalidArgument,
                 "no \"mcpServers\" in it (or \"servers\", as editors write it): an object of "
                 "servers by name is wanted");
  }
  std::vector<McpConfigServer> read;
  for (const auto& [name, entry] : servers->AsObject()) {
    if (const Json* disabled = entry.is_object() ? entry.Find("disabled") : nullptr;
        disabled != nullptr && disabled->is_bool() && disabled->AsBool()) {
      continue;
    }
    HONE_ASSIGN_OR_RETURN(McpOptions options, ReadServer(name, entry));
    read.push_back({name, std::move(options)});
  }
  if (read.empty()) return Error(ErrorCode::kInvalidArgument, "it has no server that is enabled");
  return read;
}

Result<McpOptions> WithVariables(const McpConfigServer& server, const ReadVariable& read) {
  McpOptions options = server.options;
  const auto replace = [&](const char* key, std::string* text) -> Result<void> {
    const Result<void> replaced = Replace(read, &options.secrets, text);
    if (!replaced.ok()) {
      return Error(replaced.error().code(), fmt::format("server \"{}\": {}: {}", server.name, key,
                                                        replaced.error().message()));
    }
    return {};
  };
  HONE_RETURN_IF_ERROR(replace("url", &options.url));
  HONE_RETURN_IF_ERROR(replace("cwd", &options.directory));
  for (std::string& word : options.command) HONE_RETURN_IF_ERROR(replace("args", &word));
  for (std::string& line : options.environment) HONE_RETURN_IF_ERROR(replace("env", &line));
  for (std::string& line : options.headers) HONE_RETURN_IF_ERROR(replace("headers", &line));
  return options;
}

}  // namespace hone
