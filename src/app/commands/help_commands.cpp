// hone help.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/report.h"
#include "app/terminal.h"

namespace hone {
namespace {

std::string CommandsView(const std::vector<CommandSummary>& commands, const Terminal& terminal) {
  std::string out;
  for (const CommandSummary& command : commands) {
    out += fmt::format("{}\n    {}\n", terminal.Bold(command.usage), command.about);
  }
  return out;
}

std::string CommandsJson(const std::vector<CommandSummary>& commands) {
  Json::Array list;
  for (const CommandSummary& command : commands) {
    list.push_back(
        Json::Of({{"name", command.name}, {"usage", command.usage}, {"about", command.about}}));
  }
  return DumpJson(Json::Of({{"commands", std::move(list)}})) + "\n";
}

// The whole of docs/commands.md.
std::string CommandsMarkdown(const std::vector<CommandSummary>& commands) {
  std::string text =
      "# Commands\n\n"
      "<!-- Written by `hone help --markdown`; a test keeps it true. -->\n\n"
      "Every command has `--help`, which lists its options and ends with an example, and `--json`, "
      "which makes its output one for programs. The exit status is 0 for success, 1 for a failure "
      "(one line on standard error says what to do), and 2 for a wrong command line. What goes in "
      "and out of the passes of `hone pipe` is in [pipe.md](pipe.md).\n\n"
      "| command | what it does |\n|---|---|\n";
  for (const CommandSummary& command : commands) {
    text += fmt::format("| `{}` | {} |\n", command.usage, command.about);
  }
  return text;
}

}  // namespace

void AddHelp(Command program, std::shared_ptr<CommandContext> context) {
  auto markdown = std::make_shared<bool>(false);
  Command help = program.AddCommand("help", "List every command with its usage");
  help.AddFlag("--markdown", markdown.get(), "as docs/commands.md");
  help.Footer("Example:\n  hone help\n");
  help.Action([=] {
    const std::vector<CommandSummary> commands = program.Summaries();
    Print(context.get(), *markdown       ? CommandsMarkdown(commands)
                         : context->json ? CommandsJson(commands)
                                         : CommandsView(commands, Terminal::Of(stdout)));
  });
}

}  // namespace hone
