#include "app/views/model_table_view.h"

#include <fmt/format.h>

namespace hone {
namespace {

using StepState = ModelStep::State;

std::string Cell(const ModelStep& step) {
  std::string words;
  for (const char c : step.words) words += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  if (step.state == StepState::kAbsent) return "– (" + words + ")";
  return fmt::format("{}: {}", step.state == StepState::kYes ? "yes" : "**no**", words);
}

}  // namespace

std::string ModelTableView(const std::vector<ModelRow>& rows, const Terminal& terminal) {
  std::string text;
  for (const ModelRow& row : rows) {
    text += terminal.Bold(Printable(row.name)) + "\n";
    for (const auto& [name, step] : StepsOf(row)) {
      const std::string mark = step->state == StepState::kYes  ? terminal.Green(Padded("yes", 5))
                               : step->state == StepState::kNo ? terminal.Red(Padded("no", 5))
                                                               : terminal.Dim(Padded("–", 5));
      text += fmt::format("  {}{}{}\n", Padded(name, 12), mark, Printable(step->words));
    }
  }
  return text;
}

std::string ModelTableMarkdown(const std::vector<ModelRow>& rows) {
  std::string text = "| model |", line = "|---|";
  for (const auto& [name, step] : StepsOf(ModelRow())) {
    text += " " + name + " |";
    line += "---|";
  }
  text += "\n" + line + "\n";
  for (const ModelRow& row : rows) {
    text += "| `" + row.name + "` |";
    for (const auto& [name, step] : StepsOf(row)) text += " " + Cell(*step) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace hone
