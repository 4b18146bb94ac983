#include "app/views/evaluation_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/terminal.h"

namespace hone {
namespace {

constexpr int kFigureLabel = 22, kFigureCell = 24, kTitle = 40;

// As wide as the columns of figures have to be.
int CellWidth(const std::vector<std::string>& cells) {
  int width = kFigureCell;
  for (const std::string& cell : cells) width = std::max(width, Columns(cell) + 2);
  return width;
}

std::string Words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string FigureRow(const std::string& label, const std::vector<std::string>& cells,
                      int width = kFigureCell) {
  std::string line = "  " + Padded(label, kFigureLabel);
  for (const std::string& cell : cells) line += Padded(cell, width);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// Of costs that nobody paid there is nothing to say.
bool SaysNothing(const FigureInfo& figure, const std::vector<ShownEvaluation>& shown) {
  const bool may_be_free = figure.name == "latency_ms" || figure.name == "money";
  return std::all_of(shown.begin(), shown.end(), [&](const ShownEvaluation& one) {
    const auto cell = FigureIn(&one.json, figure.name);
    return !cell || (may_be_free && cell->value == 0);
  });
}

// Of all figures that are shown.
int CellWidth(const std::vector<ShownEvaluation>& shown) {
  std::vector<std::string> cells;
  for (const FigureInfo& figure : KnownFigures()) {
    for (const ShownEvaluation& one : shown) {
      cells.push_back(TextOf(FigureIn(&one.json, figure.name)));
    }
  }
  return CellWidth(cells);
}

std::string Figures(const std::vector<ShownEvaluation>& shown, const Terminal& terminal) {
  const int cell = CellWidth(shown);
  std::string text, part;
  for (const FigureInfo& figure : KnownFigures()) {
    if (SaysNothing(figure, shown)) continue;
    if (figure.part != part) text += terminal.Bold(figure.part) + "\n";
    part = figure.part;
    std::vector<std::string> cells;
    for (const ShownEvaluation& one : shown)
      cells.push_back(TextOf(FigureIn(&one.json, figure.name)));
    const std::string row = FigureRow(Words(figure.name), cells, cell);
    const int width = kFigureLabel + 2 + cell * static_cast<int>(shown.size());
    text += figure.about.empty() ? row : Padded(row, width) + terminal.Dim(figure.about);
    text += "\n";
  }
  return text;
}

std::string Groups(const std::vector<ShownEvaluation>& shown, const std::string& groups,
                   const Terminal& terminal) {
  const std::vector<std::string> names = GroupsIn(&shown[0].json, groups);
  if (names.empty()) return "";
  std::string text =
      terminal.Bold("success by " + std::string(groups == "kinds" ? "kind" : "family"));
  text += "\n";
  for (const std::string& name : names) {
    std::vector<std::string> cells;
    for (const ShownEvaluation& one : shown) {
      cells.push_back(TextOf(GroupIn(&one.json, groups, name)));
    }
    text += FigureRow(Printable(name), cells, CellWidth(shown)) + "\n";
  }
  return text;
}

std::string Passes(const ShownEvaluation& shown, const Terminal& terminal) {
  if (shown.passes.empty()) return "";
  std::string text = terminal.Bold("of several trajectories") + "\n";
  const auto cell = [](const std::optional<Interval>& value) {
    return value ? FigureCell{value->value, value, true}.Text() : std::string("-");
  };
  for (const PassShare& pass : shown.passes) {
    text += FigureRow(fmt::format("pass@{}", pass.k), {cell(pass.one)}) + "\n";
  }
  for (const PassShare& pass : shown.passes) {
    text += FigureRow(fmt::format("pass^{}", pass.k), {cell(pass.every)}) + "\n";
  }
  return text;
}

std::string ConfusionView(const ShownEvaluation& shown, const Terminal& terminal) {
  const Confusion confusion = ConfusionOf(shown.evaluation.measures);
  if (confusion.tools.empty()) return "";
  std::string text = terminal.Bold("which tool was called first, " + shown.name);
  text += terminal.Dim("  (rows: the one that was needed)") + "\n";
  size_t widest = 4;
  for (const std::string& tool : confusion.tools) widest = std::max(widest, tool.size());
  const int column = static_cast<int>(std::clamp<size_t>(widest, 4, 14)) + 2;
  std::string head = "  " + Padded("", kFigureLabel);
  for (const std::string& tool : confusion.tools) {
    head += Padded(Fitted(Printable(tool), std::min(column - 2, Columns(tool))), column);
  }
  text += head + "none\n";
  for (size_t gold = 0; gold < confusion.tools.size(); ++gold) {
    std::string line = "  " + Padded(Printable(confusion.tools[gold]), kFigureLabel);
    for (size_t made = 0; made <= confusion.tools.size(); ++made) {
      const int64_t count = confusion.counts[gold][made];
      const std::string number = count == 0 ? "." : std::to_string(count);
      const std::string padded = made < confusion.tools.size() ? Padded(number, column) : number;
      line += gold == made ? terminal.Green(padded) : count > 0 ? terminal.Red(padded) : padded;
    }
    text += line + "\n";
  }
  return text;
}

// A call in a format that nobody reads is an answer in all figures, and looks like a weak model.
std::string UnreadView(const ShownEvaluation& shown, const Terminal& terminal) {
  const RolloutCounts& counts = shown.evaluation.counts;
  if (counts.unread_calls == 0) return "";
  return terminal.Yellow(fmt::format("{}: {} turns look like calls that were not read: {}\n",
                                     shown.name, counts.unread_calls,
                                     Printable(counts.unread_note)));
}

Json ConfusionJson(const Confusion& confusion) {
  Json::Array rows;
  for (const std::vector<int64_t>& counts : confusion.counts) {
    Json::Array row;
    for (const int64_t count : counts) row.emplace_back(count);
    rows.emplace_back(std::move(row));
  }
  return Json::Of({{"tools", Json::ArrayOf(confusion.tools)}, {"counts", std::move(rows)}});
}

}  // namespace

ShownEvaluation MakeShown(std::string name, Evaluation evaluation) {
  ShownEvaluation shown{.name = std::move(name), .evaluation = std::move(evaluation)};
  shown.json = shown.evaluation.ToJson();
  if (shown.evaluation.samples > 1) {
    shown.passes =
        PassesOf(shown.evaluation.measures, shown.evaluation.samples, Rng(0).Split("passes"));
  }
  return shown;
}

std::string EvaluationsView(const std::vector<ShownEvaluation>& shown, const Terminal& terminal) {
  if (shown.empty()) return "";
  std::vector<std::string> names;
  for (const ShownEvaluation& one : shown) names.push_back(one.name);
  std::string text =
      terminal.Dim(FigureRow("", names, CellWidth(shown))) + "\n" + Figures(shown, terminal);
  for (const char* groups : {"environments", "families", "kinds"}) {
    text += Groups(shown, groups, terminal);
  }
  for (const ShownEvaluation& one : shown) text += Passes(one, terminal);
  text += ConfusionView(shown[0], terminal);
  for (const ShownEvaluation& one : shown) {
    const int64_t broken = one.evaluation.Broken();
    if (broken == 0) continue;
    text += terminal.Yellow(
        fmt::format("{}: {} of {} trajectories ended by the fault of others and do not count\n",
                    one.name, broken, one.evaluation.measures.size()));
  }
  for (const ShownEvaluation& one : shown) text += UnreadView(one, terminal);
  return text;
}

Json ShownJson(const ShownEvaluation& shown) {
  Json json = shown.json;
  json.Set("confusion", ConfusionJson(ConfusionOf(shown.evaluation.measures)));
  if (!shown.passes.empty()) json.Set("pass", ToJson(shown.passes));
  return json;
}

std::string ForgettingView(const ForgettingTable& table, const Terminal& terminal) {
  if (table.rows.empty()) return "";
  const std::string title = fmt::format("success on dev, {} tasks", table.tasks);
  std::vector<std::string> all;
  for (const ForgettingRow& row : table.rows) {
    for (const auto& cell : row.after) all.push_back(TextOf(cell));
  }
  const int width = CellWidth(all);
  std::string header;
  for (const std::string& stage : table.stages) header += Padded("after " + stage, width);
  std::string text = terminal.Bold("\n" + Padded(title, kTitle)) +
                     terminal.Dim(header + "forgotten since its best") + "\n";
  for (const ForgettingRow& row : table.rows) {
    text += "  " + Padded(row.environment, kTitle - 2);
    for (const auto& cell : row.after) text += Padded(TextOf(cell), width);
    text += TextOf(row.forgotten) + "\n";
  }
  return text;
}

std::string BeforeAfterView(const std::vector<BeforeAfterTable>& tables, const Terminal& terminal) {
  std::string text;
  for (const BeforeAfterTable& table : tables) {
    std::vector<std::string> cells;
    for (const BeforeAfterRow& row : table.rows) cells.push_back(TextOf(row.before));
    const int width = CellWidth(cells);
    const std::string title = fmt::format("{}, {} tasks, real tools", table.split, table.tasks);
    text += terminal.Bold(Padded(title, kTitle));
    text += terminal.Dim(Padded("before", width) + "after") + "\n";
    for (const BeforeAfterRow& row : table.rows) {
      std::string after = TextOf(row.after);
      if (row.main && row.after) after = terminal.Bold(after);
      text +=
          "  " +
          Padded(std::string(static_cast<size_t>(2 * row.indent), ' ') + row.label, kTitle - 2) +
          Padded(TextOf(row.before), width) + after + "\n";
    }
  }
  return text;
}

}  // namespace hone
