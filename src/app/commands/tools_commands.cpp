// hone tools list | describe | call | import: any tool, tried by hand.

#include <chrono>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/installed/shipped_files.h"
#include "app/report.h"
#include "app/views/tools_view.h"
#include "base/file.h"
#include "base/nearest.h"
#include "envs/environments.h"
#include "simulate/backend_options.h"
#include "tools/journal/redact.h"
#include "tools/modes.h"
#include "tools/spec_file.h"
#include "tools/tool_recipe.h"
#include "train/training_recipe.h"

namespace hone {
namespace {

// What is there when nobody names a tool file.
constexpr char kDefaultTools[] = R"([[tools]]
kind = "calculator"

[[tools]]
kind = "python"
state = true

[[tools]]
kind = "files"
)";

// A tool file, read: what there is, what goes wrong on purpose, what is kept secret.
struct ToolFile {
  std::vector<ToolkitOptions> plans;
  std::vector<FaultRule> faults;
  std::shared_ptr<const Redactor> redactor;
};

Result<Recipe> LoadTools(const std::string& file, const std::string& mcp_config) {
  if (!file.empty()) return LoadNamedRecipe(file);
  if (mcp_config.empty()) return Recipe::Parse(kDefaultTools, "default tools");
  return Recipe::Parse(
      fmt::format("[[tools]]\nkind = \"mcp-config\"\nfile = {}\n", DumpJson(mcp_config)),
      "--mcp-config");
}

Result<ToolFile> ReadToolFile(const std::string& file, const std::string& mcp_config) {
  Result<Recipe> loaded = LoadTools(file, mcp_config);
  if (!loaded.ok()) return loaded.error();
  ToolFile out;
  out.plans = ReadTools(loaded->Root());
  // The recipe of an environment or of a training will do as well: its tools are taken.
  PassOverTraining(loaded->Root());
  if (loaded->Root().Has("environment")) ReadEnvironment(loaded->Root());
  BackendOptions backend = ReadBackend(loaded->Root());
  HONE_RETURN_IF_ERROR(loaded->Finish());
  out.faults = std::move(backend.faults);
  if (out.plans.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 file + ": no [[tools]] in it; see docs/tools.md for what it may say");
  }
  HONE_ASSIGN_OR_RETURN(Redactor redactor, Redactor::Create(backend.redaction));
  out.redactor = std::make_shared<const Redactor>(std::move(redactor));
  return out;
}

struct ToolsArguments {
  std::string tools;       // a tool file; empty: the default tools
  std::string mcp_config;  // or servers as another program has them
  std::string name;
  std::string arguments = "{}";
  std::string mode = "live";
  std::string journal;
  std::string run;
  std::vector<std::string> faults;
  uint64_t seed = 0;
  std::string source;  // of import
  std::string out;
};

Result<std::shared_ptr<const Toolbox>> OpenTools(const ToolsArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const ToolFile file, ReadToolFile(arguments.tools, arguments.mcp_config));
  return MakeToolbox(file.plans);
}

Result<std::string> List(const ToolsArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Toolbox> toolbox, OpenTools(arguments));
  return json ? DumpJson(SpecsJson(*toolbox)) + "\n" : ToolsTable(*toolbox, Terminal::Of(stdout));
}

Result<std::string> Describe(const ToolsArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Toolbox> toolbox, OpenTools(arguments));
  const Toolbox::Tool* tool = toolbox->Find(arguments.name);
  if (tool == nullptr) {
    return Error(ErrorCode::kNotFound, toolbox->UnknownTool(arguments.name));
  }
  return json ? DumpJson(tool->spec.ToJson(), JsonStyle::kPretty) + "\n"
              : ToolView(*toolbox, *tool, Terminal::Of(stdout));
}

// The calls to make: the one of the command line, or one per line of standard input.
struct MadeCall {
  std::string tool;
  Json arguments;
};

Result<std::vector<MadeCall>> CallsOf(const ToolsArguments& arguments) {
  if (arguments.name != "-") {
    Result<Json> parsed = ParseJson(arguments.arguments);
    if (!parsed.ok()) {
      return Error(ErrorCode::kParse, fmt::format("arguments: {}; a JSON object is wanted, such as "
                                                  "'{{\"name\": \"value\"}}'",
                                                  parsed.error().message()));
    }
    return std::vector<MadeCall>{{arguments.name, *std::move(parsed)}};
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadStandardInput());
  HONE_ASSIGN_OR_RETURN(const std::vector<Json> lines, ParseJsonLines(text));
  std::vector<MadeCall> calls;
  for (const Json& line : lines) {
    const Json *tool = line.Find("tool"), *given = line.Find("arguments");
    const size_t known = (tool != nullptr) + (given != nullptr);
    if (tool == nullptr || !tool->is_string() || line.AsObject().size() != known) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("call {}: a line is {{\"tool\": NAME, \"arguments\": {{...}}}}",
                               calls.size() + 1));
    }
    calls.push_back({tool->AsString(), given != nullptr ? *given : Json::Of({})});
  }
  return calls;
}

Result<RoutingOptions> PlanOf(const ToolsArguments& arguments, std::vector<FaultRule> faults) {
  RoutingOptions routing{.faults = std::move(faults), .seed = arguments.seed};
  for (const std::string& flag : arguments.faults) {
    HONE_ASSIGN_OR_RETURN(FaultRule rule, ParseFaultRule(flag));
    routing.faults.push_back(std::move(rule));
  }
  const std::optional<ToolMode> mode = ToolModeFromName(arguments.mode);
  if (!mode) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--mode {}: not one of {}{}", arguments.mode, fmt::join(ToolModeNames(), ", "),
                    DidYouMean(arguments.mode, ToolModeNames())));
  }
  routing.mode = *mode;
  if (routing.mode == ToolMode::kLive) {
    if (arguments.journal.empty()) return routing;
    return Error(ErrorCode::kInvalidArgument,
                 "--journal is not used in mode live; add --mode record or --mode replay");
  }
  if (arguments.journal.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("--mode {} needs --journal FILE", arguments.mode));
  }
  auto journal = routing.mode == ToolMode::kReplay ? Journal::OpenForReading(arguments.journal)
                                                   : Journal::Open(arguments.journal);
  if (!journal.ok()) return journal.error();
  routing.journal = *std::move(journal);
  return routing;
}

// Two calls by hand are two runs, unless they are given one name.
std::string RunName(const ToolsArguments& arguments) {
  if (!arguments.run.empty()) return arguments.run;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("by-hand-{}",
                     std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// Makes the calls one after the other, in one trajectory. False when one did not end well.
Result<bool> MakeCalls(CommandContext* context, const ToolsArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const std::vector<MadeCall> calls, CallsOf(arguments));
  HONE_ASSIGN_OR_RETURN(ToolFile file, ReadToolFile(arguments.tools, arguments.mcp_config));
  HONE_ASSIGN_OR_RETURN(RoutingOptions routing, PlanOf(arguments, std::move(file.faults)));
  routing.redactor = file.redactor;
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Toolbox> toolbox, MakeToolbox(file.plans));
  const std::unique_ptr<Timeline> timeline = NewRealTimeline();
  HONE_ASSIGN_OR_RETURN(ExecutorOptions options, OptionsFor(routing, *toolbox, timeline.get()));
  Executor executor(std::move(options), timeline.get());
  const auto sessions = std::make_shared<Sessions>(toolbox, arguments.seed);
  const std::string run = RunName(arguments);
  bool good = true;
  for (size_t i = 0; i < calls.size(); ++i) {
    const CallIdentity identity{run, "by-hand", "0", static_cast<int32_t>(i), 0};
    executor.Submit({identity, calls[i].tool, calls[i].arguments, sessions});
    const std::optional<CallOutcome> outcome = executor.Next();
    CHECK(outcome.has_value(), "every call ends");
    good &= outcome->result.status == CallStatus::kOk;
    Print(context, context->json ? DumpJson(OutcomeJson(calls[i].tool, *outcome)) + "\n"
                                 : OutcomeView(*outcome, Terminal::Of(stdout)));
  }
  return good;
}

// Descriptions of tools, wherever they come from, as a file for `kind = "spec"`.
Result<std::string> Import(const ToolsArguments& arguments, bool json) {
  std::vector<ToolSpec> specs;
  if (!arguments.source.empty()) {
    HONE_ASSIGN_OR_RETURN(specs, ReadSpecFile(arguments.source));
  } else {
    HONE_ASSIGN_OR_RETURN(const std::shared_ptr<const Toolbox> toolbox, OpenTools(arguments));
    for (const Toolbox::Tool& tool : toolbox->tools()) specs.push_back(tool.spec);
  }
  Json::Array list;
  for (const ToolSpec& spec : specs) list.push_back(spec.ToJson());
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(arguments.out, DumpJson(Json(std::move(list)), JsonStyle::kPretty) + "\n"));
  if (json) {
    return DumpJson(
               Json::Of({{"file", arguments.out}, {"tools", static_cast<int64_t>(specs.size())}})) +
           "\n";
  }
  return fmt::format("{}: {} tools. To use them:\n\n[[tools]]\nkind = \"spec\"\nfile = \"{}\"\n",
                     arguments.out, specs.size(), arguments.out);
}

}  // namespace

void AddTools(Command program, std::shared_ptr<CommandContext> context) {
  Command group = program.AddCommand("tools", "List, describe and call tools by hand");
  group.NeedsCommand();
  group.Footer("Example:\n  hone tools call calculator '{\"expression\": \"6*7\"}'\n");
  auto arguments = std::make_shared<ToolsArguments>();
  auto add = [&](const char* name, const char* about) {
    Command command = group.AddCommand(name, about);
    Option tools = command.AddOption("--tools,-t", &arguments->tools,
                                     "TOML file with [[tools]] (docs/tools.md), or an "
                                     "environment's; calculator, python and files when absent");
    command
        .AddOption("--mcp-config", &arguments->mcp_config,
                   "or JSON with \"mcpServers\", as other programs write it")
        .Excludes(tools);
    return command;
  };

  Command list = add("list", "List the tools that there are");
  list.Footer("Examples:\n  hone tools list\n  hone tools list --mcp-config .mcp.json\n");
  list.Action([=] { Finish(context.get(), List(*arguments, context->json)); });

  Command describe = add("describe", "Show one tool: its arguments, effects and limits");
  describe.AddOption("name", &arguments->name, "the tool").Required();
  describe.Footer("Example:\n  hone tools describe calculator\n");
  describe.Action([=] { Finish(context.get(), Describe(*arguments, context->json)); });

  Command call = add("call", "Call a tool, or several in one trajectory");
  call.AddOption("name", &arguments->name, "the tool; -: a call per line of standard input")
      .Required();
  call.AddOption("arguments", &arguments->arguments, "a JSON object").ShowDefault();
  call.AddOption("--mode", &arguments->mode, "who answers: live, record, replay").ShowDefault();
  call.AddOption("--journal", &arguments->journal, "the journal to record to or replay from");
  call.AddOption("--run", &arguments->run, "the name of the run in the journal");
  call.AddOption("--fault", &arguments->faults,
                 "put a fault in: KIND[,key=value...] (docs/tools.md); may be repeated")
      .OneAtATime();
  call.AddOption("--seed", &arguments->seed, "of sessions and faults").ShowDefault();
  call.Footer(
      "Exit status 1 when a call does not end well.\nExamples:\n"
      "  hone tools call calculator '{\"expression\": \"2^100 / 7\"}'\n"
      "  hone tools call python '{\"code\": \"sum(range(10))\"}' --fault slow,delay_ms=500\n"
      "  printf '%s\\n' '{\"tool\": \"python\", \"arguments\": {\"code\": \"x = 6\"}}' \\\n"
      "    '{\"tool\": \"python\", \"arguments\": {\"code\": \"x * 7\"}}' | hone tools call -\n");
  call.Action([=] {
    const Result<bool> good = MakeCalls(context.get(), *arguments);
    if (!good.ok()) {
      Report(context.get(), good.error());
    } else if (!*good) {
      context->exit_status = 1;
    }
  });

  Command import = add("import", "Write the descriptions of tools to a file");
  import.AddOption("source", &arguments->source,
                   "JSON or JSON Lines with function schemas; absent: the tools of --tools");
  import.AddOption("--out,-o", &arguments->out, "the file to write").Required();
  import.Footer("Example:\n  hone tools import --tools my-server.toml -o my-server.json\n");
  import.Action([=] { Finish(context.get(), Import(*arguments, context->json));
});
}  // namespace hone

}  // namespace hone
