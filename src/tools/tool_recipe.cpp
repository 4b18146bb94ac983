#include "tools/tool_recipe.h"

#include <fmt/format.h>

#include "tools/builtin/calculator_tool.h"
#include "tools/builtin/files_tool.h"
#include "tools/builtin/python_tool.h"
#include "tools/builtin/search_tool.h"
#include "tools/builtin/sql_tool.h"
#include "tools/command/command_tool.h"
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

}  // namespace

std::vector<ToolkitOptions> ReadTools(RecipeTable table) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  std::vector<ToolkitOptions> toolkits;
  for (RecipeTable entry : table.Tables("tools")) {
    ToolkitOptions options;
    entry.ReadChoice("kind", &options.kind, names, "what the toolkit is");
    if (!entry.Has("kind")) entry.Problem("kind", "says what the toolkit is, and is missing");
    entry.Read("prefix", &options.prefix, "put before the names of its tools");
    options.limits = ReadLimits(entry);
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
    if (!kit.ok()) return kit.error().In(fmt::format("tools[{}] ({})", i, toolkits[i].kind));
    kits.push_back(*std::move(kit));
  }
  HONE_ASSIGN_OR_RETURN(Toolbox toolbox, Toolbox::Of(std::move(kits)));
  return std::make_shared<const Toolbox>(std::move(toolbox));
}

}  // namespace hone
