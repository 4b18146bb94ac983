#include "app/cli.h"

#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/proof_commands.h"
#include "app/report.h"
#include "base/nearest.h"

namespace hone {
namespace {

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

// The error for a word that stands where a command should, or for no word there, if that is what is
// wrong with the command line: the parser alone would only say that a command is missing.
std::optional<Error> UnknownCommand(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("-")) continue;
    const std::vector<std::string> names = CommandsOf(*at);
    if (names.empty()) return std::nullopt;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : at->get_subcommands(nullptr)) {
      if (command->get_name() == word) next = command;
    }
    if (next == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("unknown command \"{}\"{}; there are: {}", word,
                               DidYouMean(word, names), fmt::join(names, ", ")));
    }
    at = next;
  }
  const std::vector<std::string> names = CommandsOf(*at);
  if (names.empty()) return std::nullopt;
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{}a command is missing; there are: {} (each has --help)",
                           at == &app ? "" : at->get_name() + ": ", fmt::join(names, ", ")));
}

}  // namespace

int RunCli(int argc, char** argv) {
  CLI::App app("Hone trains language-model agents to use tools.", "hone");
  auto context = std::make_shared<CommandContext>();
  app.set_version_flag("--version", "hone " HONE_VERSION);
  app.add_flag("--json", context->json, "output for programs");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "Every command has --help with an example. Documentation: README.md and docs/.\n"
      "Example:\n  hone doctor\n");
  AddDoctor(app, context);
  AddTokenize(app, context);
  AddTokenizer(app, context);
  AddRender(app, context);
  AddParse(app, context);
  AddShow(app, context);
  AddModel(app, context);
  AddGenerate(app, context);
  AddLogprobs(app, context);
  AddBench(app, context);
  AddJournal(app, context);
  AddTools(app, context);
  AddRewards(app, context);
  AddCredit(app, context);
  AddLab(app, context);
  AddSimulate(app, context);
  AddEnv(app, context);
  AddTrain(app, context);
  AddServe(app, context);
  AddChat(app, context);
  AddEval(app, context);
  AddReplay(app, context);
  AddProve(app, context);
  AddRunReport(app, context);
  AddCompare(app, context);
  AddDash(app, context);
  AddPipe(app, context);
  for (CLI::App* command : app.get_subcommands({})) command->fallthrough();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::optional<Error> unknown = UnknownCommand(app, argc, argv);
    Report(context.get(), unknown ? *unknown
                                  : Error(ErrorCode::kInvalidArgument,
                                          std::string(error.what()) + " (see hone --help)"));
    return 2;
  } catch (const std::exception& error) {
    // The one place where foreign exceptions end: out of memory and the like.
    Report(context.get(), Error(ErrorCode::kIo, error.what()));
    return 1;
  }
  return context->exit_status;
}

}  // namespace hone
