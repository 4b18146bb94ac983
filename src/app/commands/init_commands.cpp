// hone init.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/report.h"
#include "app/starter.h"
#include "app/terminal.h"
#include "base/json.h"

namespace hone {
namespace {

// Where the user goes from here.
std::string NextCommands(const std::string& folder, const Terminal& terminal) {
  std::string text = terminal.Bold("next") + "\n";
  const auto line = [&](const std::string& command, const char* about) {
    text += fmt::format("  {:<36} {}\n", command, terminal.Dim(about));
  };
  if (folder != ".") text += "  cd " + folder + "\n";
  line("python3 make_data.py", "writes 2,000 conversations to imitate");
  line("hone train recipe.toml --plan", "what it will take");
  line("hone train recipe.toml", "imitation, then practice: some minutes");
  line("hone eval runs/shop --split test", "how good it is");
  return text;
}

Result<std::string> Init(const std::string& folder, bool json) {
  HONE_RETURN_IF_ERROR(WriteStarter(folder));
  if (json) {
    Json::Array names;
    for (const StarterFile& file : StarterFiles()) names.emplace_back(std::string(file.name));
    return DumpJson(Json::Of({{"folder", folder}, {"files", std::move(names)}})) + "\n";
  }
  const Terminal terminal = Terminal::Of(stdout);
  std::string text = terminal.Bold(Printable(folder)) + ":";
  for (const StarterFile& file : StarterFiles()) text += fmt::format(" {}", file.name);
  return text + "\n\n" + NextCommands(Printable(folder), terminal);
}

}  // namespace

void AddInit(Command program, std::shared_ptr<CommandContext> context) {
  auto folder = std::make_shared<std::string>(".");
  Command init = program.AddCommand("init", "Write a folder to begin with: tools, tasks, a reward");
  init.AddOption("folder", folder.get(), "is made where there is none").ShowDefault();
  init.Footer(
      "The folder trains as it is: its tools and its reward are Python, its tasks JSON Lines. A\n"
      "script in it makes conversations to imitate. Replace one after the other with your own.\n"
      "Files that are there already are never overwritten.\n"
      "Example:\n  hone init shop\n");
  init.Action([=] { Finish(context.get(), Init(*folder, context->json)); });
}

}  // namespace hone
