// hone rewards list.

#include <algorithm>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/report.h"
#include "app/terminal.h"
#include "rewards/presets.h"

namespace hone {
namespace {

std::string WithCommas(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string PresetsJson() {
  Json::Array list;
  for (const Preset& preset : BuiltInPresets()) {
    list.push_back(Json::Of({{"name", preset.name},
                             {"about", preset.about},
                             {"terms", Json::ArrayOf(preset.terms)},
                             {"labels", Json::ArrayOf(preset.labels)}}));
  }
  return DumpJson(Json(std::move(list))) + "\n";
}

std::string PresetsTable(const Terminal& terminal) {
  int widest = 0;
  for (const Preset& preset : BuiltInPresets()) widest = std::max(widest, Columns(preset.name));
  std::string out;
  for (const Preset& preset : BuiltInPresets()) {
    const std::string indent(static_cast<size_t>(widest) + 2, ' ');
    out += terminal.Bold(Fitted(preset.name, widest)) + "  " + preset.about + "\n";
    out += indent +
           terminal.Dim(fmt::format("terms {}; labels {}", WithCommas(preset.terms),
                                    WithCommas(preset.labels))) +
           "\n";
  }
  return out + "\nLabels stand in the task's \"answer\" and \"reward\": docs/rewards.md\n";
}

}  // namespace

void AddRewards(Command program, std::shared_ptr<CommandContext> context) {
  Command group = program.AddCommand("rewards", "List the rewards that a tree can be scored with");
  group.NeedsCommand();
  group.Footer("Example:\n  hone rewards list\n");
  Command list =
      group.AddCommand("list", "List the presets with their terms and the labels they need");
  list.Footer("Example:\n  hone rewards list\n  hone pipe rewards --preset toolrl < trees.jsonl\n");
  list.Action([=] {
    Print(context.get(), context->json ? PresetsJson() : PresetsTable(Terminal::Of(stdout)));
  });
}

}  // namespace hone
