// hone dash.

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/interrupts.h"
#include "app/report.h"
#include "app/terminal.h"
#include "dash/dash_api.h"
#include "dash/dash_page.h"

namespace hone {
namespace {

constexpr int kPort = 7400;

struct DashArguments {
  std::vector<std::string> folders = {"runs"};
  int port = kPort;
};

double SecondsSince1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "HOST";
}

Result<std::vector<std::filesystem::path>> Folders(const DashArguments& arguments) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : arguments.folders) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("there is no folder \"{}\"; give the folder of a run, or one that "
                               "has runs in it: hone dash FOLDER",
                               folder));
    }
    folders.emplace_back(folder);
  }
  return folders;
}

std::string Greeting(const HttpServer& server, size_t runs, const DashArguments& arguments,
                     bool json) {
  if (json) {
    return DumpJson(Json::Of({{"url", server.url() + "/"},
                              {"port", server.port()},
                              {"runs", static_cast<int64_t>(runs)},
                              {"page", HasPage()}})) +
           "\n";
  }
  const Terminal terminal = Terminal::Of(stdout);
  std::string text =
      fmt::format("{} run{} in {}\n\n  {}\n\n", runs, runs == 1 ? "" : "s",
                  fmt::join(arguments.folders, ", "), terminal.Bold(server.url() + "/"));
  text += fmt::format(
      "From another machine:  ssh -L {0}:127.0.0.1:{0} {1}   and then http://127.0.0.1:{0}/\n",
      server.port(), HostName());
  if (!HasPage()) text += fmt::format("Note: {}.\n", HowToGetThePage());
  return text + "Ctrl-C ends it. Runs are only read; training does not notice.\n";
}

// Serves until somebody asks it to end.
Result<void> Serve(CommandContext* context, const DashArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> folders, Folders(arguments));
  WatchInterrupts();
  DashBoard board(folders);
  HttpServerOptions options;
  options.port = arguments.port;
  options.max_connections = 64;
  options.limits.max_body_bytes = 0;
  auto server = HttpServer::Start(options, [&board](HttpExchange& exchange) {
    exchange.Respond(AnswerDash(exchange.request(), &board, SecondsSince1970()));
  });
  if (!server.ok() && server.error().code() == ErrorCode::kUnavailable) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("port {0} is in use, perhaps by another hone dash (look at "
                             "http://127.0.0.1:{0}/); choose another with --port N, or --port 0 "
                             "for any that is free",
                             arguments.port));
  }
  if (!server.ok()) return server.error();
  Print(context, Greeting(**server, FindRuns(folders).size(), arguments, context->json));
  std::fflush(stdout);
  AwaitInterrupt();
  (*server)->Stop(std::chrono::milliseconds(500));
  return {};
}

}  // namespace

void AddDash(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<DashArguments>();
  Command dash = program.AddCommand(
      "dash", "Show runs in a browser: curves, trajectories with credit, comparisons");
  dash.AddOption("runs", &arguments->folders, "folders of runs, or of many (runs, unless given)");
  dash.AddOption("--port,-p", &arguments->port, "on 127.0.0.1; 0: any that is free")
      .ShowDefault()
      .Between(0, 65535);
  dash.Footer(
      "Works while training goes on, and after it. Only this machine can reach it; the line with "
      "ssh\nthat it prints is for looking from another one. docs/dashboard.md says what is "
      "shown.\nExample:\n  hone dash runs --port 7400\n");
  dash.Action([=] {
    const Result<void> served = Serve(context.get(), *arguments);
    if (!served.ok()) Report(context.get(), served.error());
  });
}

}  // namespace hone
