// hone report.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/report.h"
#include "app/views/run_page.h"

namespace hone {
namespace {

Result<std::string> WriteReport(const std::string& folder, bool json) {
  HONE_ASSIGN_OR_RETURN(const std::filesystem::path file, WriteRunPage(folder));
  if (json) return DumpJson(Json::Of({{"report", file.string()}})) + "\n";
  return fmt::format("{}\n", file.string());
}

}  // namespace

void AddRunReport(Command program, std::shared_ptr<CommandContext> context) {
  auto folder = std::make_shared<std::string>();
  Command report =
      program.AddCommand("report", "Write the page of a run: before and after, curves, examples");
  report.AddOption("run", folder.get(), "its folder: runs/NAME").Required();
  report.Footer(
      "The page stands alone: no network, no scripts. A run that has not ended has one, too.\n"
      "Example:\n  hone report runs/quickstart\n");
  report.Action([=] { Finish(context.get(), WriteReport(*folder, context->json)); });
}

}  // namespace hone
