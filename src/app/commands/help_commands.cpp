// hone help, hone version, hone man and hone completion: what the program says of itself.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/installed/version.h"
#include "app/report.h"
#include "app/terminal.h"
#include "app/views/completion.h"
#include "app/views/man_page.h"
#include "base/file.h"

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

struct ManArguments {
  std::vector<std::string> words;
  std::string out;
};

// Every page into a folder, as `man` looks for them there.
Result<std::string> WriteManPages(const CommandDescription& program, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot make the folder {}: {}", folder, error.message()));
  }
  const std::filesystem::path out = folder;
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(out / ManPageFile(program), ProgramManPage(program, VersionNumber())));
  for (const CommandDescription& command : program.commands) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(out / ManPageFile(command),
                                         CommandManPage(program, command, VersionNumber())));
  }
  return fmt::format("{} pages in {}\n", program.commands.size() + 1, folder);
}

Result<std::string> Man(Command program, const ManArguments& arguments) {
  const CommandDescription described = program.Describe();
  if (!arguments.out.empty()) return WriteManPages(described, arguments.out);
  if (arguments.words.empty()) return ProgramManPage(described, VersionNumber());
  // A command below another one is on the other's page.
  HONE_RETURN_IF_ERROR([&]() -> Result<void> {
    const Result<std::string> help = program.HelpOf(arguments.words);
    return help.ok() ? Result<void>() : Result<void>(help.error());
  }());
  for (const CommandDescription& command : described.commands) {
    if (command.summary.name == described.summary.name + " " + arguments.words.front()) {
      return CommandManPage(described, command, VersionNumber());
    }
  }
  return Error(ErrorCode::kNotFound, "there is no such command");
}

}  // namespace

void AddHelp(Command program, std::shared_ptr<CommandContext> context) {
  struct Arguments {
    bool markdown = false;
    std::vector<std::string> words;
  };
  auto arguments = std::make_shared<Arguments>();
  Command help = program.AddCommand("help", "List every command with its usage, or explain one");
  help.AddOption("command", &arguments->words, "what to explain, as --help of it does: env play");
  help.AddFlag("--markdown", &arguments->markdown, "as docs/commands.md");
  help.Footer("Examples:\n  hone help\n  hone help env play\n");
  help.Action([=] {
    if (!arguments->words.empty()) return Finish(context.get(), program.HelpOf(arguments->words));
    const std::vector<CommandSummary> commands = program.Summaries();
    Print(context.get(), arguments->markdown ? CommandsMarkdown(commands)
                         : context->json     ? CommandsJson(commands)
                                             : CommandsView(commands, Terminal::Of(stdout)));
  });
}

void AddVersion(Command program, std::shared_ptr<CommandContext> context) {
  Command version = program.AddCommand("version", "Say which Hone this is, and of which commit");
  version.Footer("Example:\n  hone version --json\n");
  version.Action([=] {
    Print(context.get(), (context->json ? DumpJson(VersionJson()) : VersionLine()) + "\n");
  });
}

void AddMan(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<ManArguments>();
  Command man = program.AddCommand("man", "Write the manual page of the program or of a command");
  man.AddOption("command", &arguments->words, "else the program's own page");
  man.AddOption("--out,-o", &arguments->out, "write all pages to this folder");
  man.Footer("Examples:\n  hone man train | man -l -\n  hone man --out ~/.local/share/man/man1\n");
  man.Action([=] { Finish(context.get(), Man(program, *arguments)); });
}

void AddCompletion(Command program, std::shared_ptr<CommandContext> context) {
  auto shell = std::make_shared<std::string>();
  Command completion =
      program.AddCommand("completion", "Write the script that teaches a shell these commands");
  completion.AddOption("shell", shell.get(), "which").Required().OneOf({"bash", "zsh"});
  completion.Footer(
      "An installed Hone has them where the shells look.\n"
      "Examples:\n  source <(hone completion bash)\n"
      "  hone completion zsh > ~/.zfunc/_hone     (a folder of fpath)\n");
  completion.Action([=] {
    const CommandDescription described = program.Describe();
    Print(context.get(), *shell == "bash" ? BashCompletion(described) : ZshCompletion(described));
  });
}

}  // namespace hone
