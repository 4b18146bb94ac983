#include "tools/mcp/mcp_options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/strings.h"
#include "tools/mcp/mcp_http.h"
#include "tools/mcp/mcp_stdio.h"

namespace hone {
namespace {

// What programs need in order to run at all. Nothing else of ours is a server's business.
constexpr std::array<const char*, 10> kInherited = {"PATH", "HOME",   "USER", "LOGNAME", "SHELL",
                                                    "TERM", "TMPDIR", "LANG", "LC_ALL",  "TZ"};

// What must not stand in a recipe: files are copied, logged and shared.
bool IsCredential(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* part : {"authorization", "cookie", "token", "secret", "key", "password"}) {
    if (lower.find(part) != std::string::npos) return true;
  }
  return false;
}

// Names of headers as HTTP has them.
bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

// A header, or an assignment, before and behind its separator.
struct Pair {
  std::string name, value;
};

// A credential that stands in the options itself.
std::optional<Error> Exposed(const char* key, const Pair& pair, const char* separator) {
  if (!IsCredential(pair.name) || HasReference(pair.value)) return std::nullopt;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}: {} looks like a credential; keep it in an environment variable and "
                           "write \"{}{}env:NAME\"",
                           key, pair.name, pair.name, separator));
}

Result<Pair> SplitHeader(const std::string& text, bool literal) {
  const size_t colon = text.find(':');
  Pair pair{text.substr(0, colon), ""};
  if (colon == std::string::npos || !IsHeaderName(pair.name)) {
    return Error(ErrorCode::kInvalidArgument, "headers: wants \"Name: value\"");
  }
  pair.value = Trim(std::string_view(text).substr(colon + 1));
  if (literal) return pair;
  if (auto exposed = Exposed("headers", pair, ": ")) return *std::move(exposed);
  return pair;
}

Result<Pair> SplitAssignment(const std::string& text, bool literal) {
  const size_t equals = text.find('=');
  Pair pair{text.substr(0, equals), ""};
  if (pair.name.empty()) {
    return Error(ErrorCode::kInvalidArgument, "environment: wants \"NAME=value\" or \"NAME\"");
  }
  pair.value = equals == std::string::npos ? "env:" + pair.name : text.substr(equals + 1);
  if (literal) return pair;
  if (auto exposed = Exposed("environment", pair, "=")) return *std::move(exposed);
  return pair;
}

// The first thing that is wrong with the options; `key` says where.
struct OptionProblem {
  std::string key, text;
};
std::optional<OptionProblem> ProblemOf(const McpOptions& options) {
  if (options.command.empty() == options.url.empty()) {
    return OptionProblem{"command", "an MCP server has a command or a url, one of them"};
  }
  if (!options.command.empty() && options.command[0].empty()) {
    return OptionProblem{"command", "the program has no name"};
  }
  const bool is_http = !options.url.empty();
  if (is_http && !options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    return OptionProblem{"url", "wants http:// or https://"};
  }
  const std::string_view host = std::string_view(options.url).substr(0, options.url.find('/', 8));
  if (host.find('@') != std::string_view::npos) {
    return OptionProblem{"url", "a password does not belong in an address; use headers"};
  }
  if (is_http && (!options.directory.empty() || !options.environment.empty())) {
    return OptionProblem{options.directory.empty() ? "environment" : "directory",
                         "is for a server with a command, not with a url"};
  }
  if (!is_http && !options.headers.empty()) {
    return OptionProblem{"headers", "are for a server with a url, not with a command"};
  }
  for (const std::string& header : options.headers) {
    if (const auto pair = SplitHeader(header, options.literal); !pair.ok()) {
      return OptionProblem{"headers", pair.error().message()};
    }
  }
  for (const std::string& assignment : options.environment) {
    if (const auto pair = SplitAssignment(assignment, options.literal); !pair.ok()) {
      return OptionProblem{"environment", pair.error().message()};
    }
  }
  return std::nullopt;
}

// What a value means; what must not be shown of it is added to *secrets.
Result<std::string> Meant(const Pair& pair, const McpOptions& options, const ReadVariable& read,
                          std::vector<std::string>* secrets) {
  if (!options.literal) return Resolved(pair.value, read, secrets);
  if (IsCredential(pair.name)) secrets->push_back(pair.value);
  return pair.value;
}

Result<McpConnect> StdioConnection(const McpOptions& options, const ReadVariable& read) {
  McpStdioOptions stdio;
  stdio.command = options.command;
  stdio.directory = options.directory;
  stdio.secrets = options.secrets;
  for (const char* name : kInherited) {
    if (const auto value = read(name)) stdio.environment.push_back(name + ("=" + *value));
  }
  for (const std::string& assignment : options.environment) {
    HONE_ASSIGN_OR_RETURN(const Pair pair, SplitAssignment(assignment, options.literal));
    Result<std::string> value = Meant(pair, options, read, &stdio.secrets);
    if (!value.ok()) return value.error().In("environment");
    std::erase_if(stdio.environment,
                  [&](const std::string& one) { return one.starts_with(pair.name + "="); });
    stdio.environment.push_back(pair.name + "=" + *value);
  }
  return McpConnect([stdio](McpReceive receive) { return NewMcpStdio(stdio, std::move(receive)); });
}

Result<McpConnect> HttpConnection(const McpOptions& options, const ReadVariable& read) {
  McpHttpOptions http;
  http.url = options.url;
  http.secrets = options.secrets;
  for (const std::string& header : options.headers) {
    HONE_ASSIGN_OR_RETURN(const Pair pair, SplitHeader(header, options.literal));
    Result<std::string> value = Meant(pair, options, read, &http.secrets);
    if (!value.ok()) return value.error().In("headers");
    if (value->find_first_of("\r\n") != std::string::npos) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("headers: the value of {} has a line end", pair.name));
    }
    http.headers.emplace_back(pair.name, *value);
  }
  return McpConnect([http](McpReceive receive) { return NewMcpHttp(http, std::move(receive)); });
}

}  // namespace

McpOptions ReadMcpOptions(RecipeTable table) {
  McpOptions options;
  table.ReadCommand("command", &options.command, "the MCP server's program and its arguments");
  table.Read("url", &options.url, "or the address of a server of the streamable HTTP kind");
  table.ReadPath("directory", &options.directory, "where the program runs", PathUse::kPlace);
  table.Read("environment", &options.environment, "NAME=value, NAME=env:OTHER or NAME");
  table.Read("headers", &options.headers, "Name: value; credentials as env:NAME");
  table.Read("startup_ms", &options.startup_ms, "for starting and agreeing on a version",
             Between(1, 3600000));
  table.Read("per_session", &options.per_session, "a server for each trajectory");
  table.Read("only", &options.only, "the tools to offer; none: all of them");
  if (const auto problem = ProblemOf(options)) table.Problem(problem->key, problem->text);
  return options;
}

Result<McpConnect> McpConnectionOf(const McpOptions& options, const ReadVariable& read) {
  if (const auto problem = ProblemOf(options)) {
    return Error(ErrorCode::kInvalidArgument, problem->key + ": " + problem->text);
  }
  return options.url.empty() ? StdioConnection(options, read) : HttpConnection(options, read);
}

}  // namespace hone
