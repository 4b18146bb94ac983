#include "tools/tool_recipe.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/nearest.h"
#include "tools/builtin/calculator_tool.h"
#include "tools/builtin/files_tool.h"
#include "tools/builtin/python_tool.h"
#include "tools/builtin/search_tool.h"
#include "tools/builtin/sql_tool.h"
#include "tools/command/command_tool.h"
#include "tools/mcp/mcp_config.h"
#include "tools/mcp/mcp_toolkit.h"
#include "tools/openapi/openapi_tool.h"
#include "tools/prefixed.h"
#include "tools/spec_file.h"
#include "tools/spec_tool.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using Make = std::function<Result<std::shared_ptr<Toolkit>>()>;

struct Kind {
  const char* name;
  Make (*read)(RecipeTable table);
  bool outside = false;
};

// A kind of toolkit out of its two functions.
template <auto kReadOptions, auto kNew>
Make ReadKind(RecipeTable table) {
  return [options = kReadOptions(table)] { return kNew(options); };
}

constexpr Kind kKinds[] = {
    {"calculator", &ReadKind<&ReadCalculatorOptions, &NewCalculatorToolkit>},
    {"python", &ReadKind<&ReadPythonOptions, &NewPythonToolkit>},
    {"search", &ReadKind<&ReadSearchOptions, &NewSearchToolkit>},
    {"sql", &ReadKind<&ReadSqlOptions, &NewSqlToolkit>},
    {"files", &ReadKind<&ReadFilesOptions, &NewFilesToolkit>},
    {"command", &ReadKind<&ReadCommandOptions, &NewCommandToolkit>, true},
    {"mcp", &ReadKind<&ReadMcpOptions, &NewMcpToolkit>, true},
    {"openapi", &ReadKind<&ReadOpenApiOptions, &NewOpenApiToolkit>, true},
    {"spec", &ReadKind<&ReadSpecOptions, &NewSpecToolkit>},
};

void ReadMilliseconds(RecipeTable* table, const char* key, milliseconds* value,
                      const char* comment) {
  int64_t count = value->count();
  table->Read(key, &count, comment, Between(1, 24 * 3600 * 1000));
  *value = milliseconds(count);
}

ToolLimits ReadLimits(RecipeTable table) {
  ToolLimits limits;
  ReadMilliseconds(&table, "deadline_ms", &limits.deadline, "of a call, everything included");
  limits.attempt = std::min(limits.attempt, limits.deadline);
  ReadMilliseconds(&table, "attempt_ms", &limits.attempt, "of one attempt at it");
  table.Read("retries", &limits.retries, "after the first attempt, at a tool's faults only",
             Between(0, 100));
  ReadMilliseconds(&table, "backoff_ms", &limits.backoff, "before the first retry; doubles");
  table.Read("concurrent", &limits.concurrent, "calls at a time", AtLeast(1));
  table.Read("per_second", &limits.per_second, "calls begun per second; 0: no limit", AtLeast(0));
  table.Read("max_result_bytes", &limits.max_result_bytes, "longer results are cut", AtLeast(1));
  table.Read("max_argument_bytes", &limits.max_argument_bytes, "longer arguments are refused",
             AtLeast(1));
  table.Read("assert_format", &limits.assert_format,
             "texts must have the `format` that the tools' schemas name");
  return limits;
}

// Who plays a tool has limits of its own.
constexpr ToolLimits kPatientLimits = {
    .deadline = std::chrono::minutes(10), .attempt = std::chrono::minutes(10), .retries = 0};

// Its tools out of a file, which has their names with the prefix or without.
Result<std::shared_ptr<Toolkit>> Described(const ToolkitOptions& options) {
  Result<std::vector<ToolSpec>> specs = ReadSpecFile(options.described);
  if (!specs.ok()) {
    return Error(specs.error().code(), fmt::format("{}; `hone tools import` writes such a file",
                                                   specs.error().message()));
  }
  for (ToolSpec& spec : *specs) {
    if (!spec.name.starts_with(options.prefix)) spec.name = options.prefix + spec.name;
  }
  return NewSpecToolkitOf(*std::move(specs));
}

Result<Toolbox::Kit> MakeKit(const ToolkitOptions& options, ToolUse use) {
  if (use == ToolUse::kAnsweredElsewhere && !options.described.empty()) {
    HONE_ASSIGN_OR_RETURN(std::shared_ptr<Toolkit> toolkit, Described(options));
    return Toolbox::Kit{std::move(toolkit), kPatientLimits};
  }
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<Toolkit> toolkit, options.make());
  return Toolbox::Kit{WithPrefix(std::move(toolkit), options.prefix), options.limits};
}

constexpr char kMcpConfig[] = "mcp-config";

// What an entry of that kind says besides what every entry does.
struct McpConfigOptions {
  std::string file;
  std::vector<std::string> servers;  // empty: all
  bool server_prefix = false;
  int64_t startup_ms = 30000;
  bool per_session = false;
};

McpConfigOptions ReadMcpConfigOptions(RecipeTable entry) {
  McpConfigOptions options;
  // It may hold credentials: a run does not copy it.
  entry.ReadPath("file", &options.file, "JSON with \"mcpServers\", as other programs write it",
                 PathUse::kPlace);
  entry.Read("servers", &options.servers, "the servers wanted, by name; none: all of them");
  entry.Read("server_prefix", &options.server_prefix,
             "put the server's name and _ before the names of its tools");
  entry.Read("startup_ms", &options.startup_ms, "for starting and agreeing on a version",
             Between(1, 3600000));
  entry.Read("per_session", &options.per_session, "a server for each trajectory");
  return options;
}

Result<std::vector<McpConfigServer>> ServersOf(const McpConfigOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.file));
  HONE_ASSIGN_OR_RETURN(const Json config, ParseJson(text));
  HONE_ASSIGN_OR_RETURN(std::vector<McpConfigServer> servers, ReadMcpConfig(config));
  std::vector<std::string> names;
  for (const McpConfigServer& server : servers) names.push_back(server.name);
  for (const std::string& wanted : options.servers) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no server \"{}\"{}; there are: {}", wanted,
                             DidYouMean(wanted, names), fmt::join(names, ", ")));
  }
  std::erase_if(servers, [&](const McpConfigServer& server) {
    return !options.servers.empty() && std::find(options.servers.begin(), options.servers.end(),
                                                 server.name) == options.servers.end();
  });
  return servers;
}

// One toolkit for each server, with the limits and the prefix of the entry.
std::vector<ToolkitOptions> ReadMcpServers(RecipeTable entry, const ToolkitOptions& common) {
  std::vector<ToolkitOptions> toolkits;
  const McpConfigOptions options = ReadMcpConfigOptions(entry);
  if (options.file.empty()) {
    entry.Problem("file", "wants a file with \"mcpServers\"");
    return toolkits;
  }
  Result<std::vector<McpConfigServer>> servers = ServersOf(options);
  if (!servers.ok()) {
    entry.Problem("file", fmt::format("{}: {}", options.file, servers.error().message()));
    return toolkits;
  }
  for (McpConfigServer& server : *servers) {
    server.options.startup_ms = options.startup_ms;
    server.options.per_session = options.per_session;
    ToolkitOptions toolkit = common;
    toolkit.of = server.name;
    if (options.server_prefix) toolkit.prefix += server.name + "_";
    toolkit.make = [server = std::move(server)]() -> Result<std::shared_ptr<Toolkit>> {
      HONE_ASSIGN_OR_RETURN(const McpOptions meant, WithVariables(server));
      return NewMcpToolkit(meant);
    };
    toolkits.push_back(std::move(toolkit));
  }
  return toolkits;
}

}  // namespace

std::vector<ToolkitOptions> ReadTools(RecipeTable table) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  names.emplace_back(kMcpConfig);
  std::vector<ToolkitOptions> toolkits;
  size_t count = 0;
  for (RecipeTable entry : table.Tables("tools")) {
    ToolkitOptions options{.entry = count++};
    entry.ReadChoice("kind", &options.kind, names, "what the toolkit is");
    if (!entry.Has("kind")) entry.Problem("kind", "says what the toolkit is, and is missing");
    entry.Read("prefix", &options.prefix, "put before the names of its tools");
    options.limits = ReadLimits(entry);
    if (options.kind == kMcpConfig) {
      for (ToolkitOptions& one : ReadMcpServers(entry, options)) toolkits.push_back(std::move(one));
      continue;
    }
    for (const Kind& kind : kKinds) {
      if (options.kind != kind.name) continue;
      options.make = kind.read(entry);
      if (!kind.outside) continue;
      entry.Read("described", &options.described,
                 "file of its tools; it is not started where others answer for it");
    }
    toolkits.push_back(std::move(options));
  }
  return toolkits;
}

Result<std::shared_ptr<const Toolbox>> MakeToolbox(const std::vector<ToolkitOptions>& toolkits,
                                                   ToolUse use) {
  std::vector<Toolbox::Kit> kits;
  for (size_t i = 0; i < toolkits.size(); ++i) {
    CHECK(toolkits[i].make != nullptr, "a recipe with problems is not used");
    Result<Toolbox::Kit> kit = MakeKit(toolkits[i], use);
    if (!kit.ok()) {
      const std::string& of = toolkits[i].of;
      return kit.error().In(fmt::format("tools[{}] ({}{})", toolkits[i].entry, toolkits[i].kind,
                                        of.empty() ? "" : ", server " + of));
    }
    kits.push_back(*std::move(kit));
  }
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of(std::move(kits)));
  return std::make_shared<const Toolbox>(std::move(toolbox));
}

}  // namespace hone
