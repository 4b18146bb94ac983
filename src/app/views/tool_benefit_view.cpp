#include "app/views/tool_benefit_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/html.h"
#include "evaluate/kind_table.h"

namespace hone {
namespace {

constexpr int kBenefitLabel = 22, kBenefitCell = 24;

std::string Spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string WithoutTrailingSpace(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string Shown(std::string_view text) { return EscapeHtml(Printable(text)); }

std::string CornersHtml(const ToolBenefit& use) {
  return fmt::format(
      "<table><tr><th></th><th>done without</th><th>not done without</th></tr>"
      "<tr><td>done with tools</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>"
      "<tr><td>not done with tools</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
      "</tr></table><br>\n",
      use.both, use.only_with, use.only_without, use.neither);
}

std::string UseHtml(const ShownToolBenefit& one) {
  std::string html = CornersHtml(one.use) + "<table class=\"pairs\">\n";
  for (const ToolBenefit::Row& row : one.use.rows) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td><small>{}</small></td></tr>\n",
                        Shown(Spaced(row.name)), Shown(row.cell.Text()), Shown(row.about));
  }
  for (const ShownToolBenefit::Cost& cost : one.costs) {
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td><small>per task; without tools {}</small></td></tr>\n",
        Shown(Spaced(cost.name)), Shown(TextOf(cost.with)), Shown(TextOf(cost.without)));
  }
  return html + "</table>\n";
}

std::string KindsHtml(const KindTable& table) {
  if (table.rows.empty()) return "";
  std::string html =
      "<h2>Calls by kind of task</h2>\n<p class=\"dim\">After training, sampled. Unused: calls "
      "that brought nothing that the task needs. Unaided: of tasks that were done, those without "
      "a call. Entropy: nats per token. The last columns: calls of each tool per task.</p>\n"
      "<table><tr><th></th>";
  for (const std::string& column : table.columns) {
    html += fmt::format("<th>{}</th>", Shown(column));
  }
  html += "</tr>\n";
  for (const KindTable::Row& row : table.rows) {
    html += fmt::format("<tr><td>{}</td>", Shown(row.kind));
    for (const std::string& cell : row.cells) {
      html += fmt::format("<td class=\"number\">{}</td>", Shown(cell));
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace

std::vector<ShownToolBenefit> ToolBenefitsOf(std::string name, const Json* with,
                                             const Json* without) {
  std::optional<ToolBenefit> use = ToolBenefitOf(with, without);
  if (!use) return {};
  ShownToolBenefit one{.name = std::move(name), .use = *std::move(use)};
  for (const char* figure : {"tokens", "thought_tokens"}) {
    const auto here = FigureIn(with, figure), there = FigureIn(without, figure);
    if (here && (here->value > 0 || (there && there->value > 0))) {
      one.costs.push_back({figure, here, there});
    }
  }
  return {one};
}

std::vector<ShownToolBenefit> ToolBenefitsOf(const std::vector<ShownEvaluation>& shown) {
  std::vector<ShownToolBenefit> uses;
  for (const ShownEvaluation& with : shown) {
    if (with.evaluation.without_tools) continue;
    for (const ShownEvaluation& without : shown) {
      if (!without.evaluation.without_tools ||
          without.evaluation.temperature != with.evaluation.temperature) {
        continue;
      }
      for (ShownToolBenefit& one : ToolBenefitsOf(with.name, &with.json, &without.json)) {
        uses.push_back(std::move(one));
      }
    }
  }
  return uses;
}

std::string ToolBenefitsView(const std::vector<ShownToolBenefit>& uses, const Terminal& terminal) {
  std::string text;
  for (const ShownToolBenefit& one : uses) {
    const ToolBenefit& use = one.use;
    text += terminal.Bold(fmt::format("with tools and without, {}", one.name));
    text += terminal.Dim(fmt::format("  ({} trajectories)", use.pairs)) + "\n";
    const auto line = [](std::string_view label, const std::string& first,
                         const std::string& second) {
      return WithoutTrailingSpace("  " + Padded(label, kBenefitLabel) + Padded(first, 16) + second);
    };
    text += terminal.Dim(line("", "done without", "not done without"));
    text += line("done with tools", std::to_string(use.both), std::to_string(use.only_with));
    text +=
        line("not done with tools", std::to_string(use.only_without), std::to_string(use.neither));
    for (const ToolBenefit::Row& row : use.rows) {
      text += "  " + Padded(Spaced(row.name), kBenefitLabel) +
              Padded(row.cell.Text(), kBenefitCell) + terminal.Dim(row.about) + "\n";
    }
    for (const ShownToolBenefit::Cost& cost : one.costs) {
      text += "  " + Padded(Spaced(cost.name), kBenefitLabel) +
              Padded(TextOf(cost.with), kBenefitCell) +
              terminal.Dim("per task; without tools " + TextOf(cost.without)) + "\n";
    }
  }
  return text;
}

Json ToolBenefitsJson(const std::vector<ShownToolBenefit>& uses) {
  Json out = Json::Object();
  for (const ShownToolBenefit& one : uses) out.Set(one.name, ToJson(one.use));
  return out;
}

std::string KindsView(const std::string& name, const Json* evaluation, const Terminal& terminal) {
  const KindTable table = KindTableOf(evaluation);
  if (table.rows.empty()) return "";
  std::vector<int> widths;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    int width = Columns(Printable(table.columns[c]));
    for (const KindTable::Row& row : table.rows) width = std::max(width, Columns(row.cells[c]));
    widths.push_back(width + 2);
  }
  const auto line = [&](const std::string& label, const std::vector<std::string>& cells) {
    std::string text = "  " + Padded(Fitted(label, kBenefitLabel - 1), kBenefitLabel);
    for (size_t c = 0; c < cells.size(); ++c) text += Padded(Printable(cells[c]), widths[c]);
    return WithoutTrailingSpace(std::move(text));
  };
  std::string text = terminal.Bold("calls by kind, " + name) +
                     terminal.Dim("  (the last columns: calls of each tool per task)") + "\n" +
                     terminal.Dim(line("", table.columns));
  for (const KindTable::Row& row : table.rows) text += line(Printable(row.kind), row.cells);
  return text;
}

std::string ToolBenefitHtml(const Json& evaluations) {
  const auto found = [&](std::string_view when, std::string_view how) {
    return evaluations.Find(fmt::format("{}/test/{}", when, how));
  };
  std::string html = KindsHtml(KindTableOf(found("after", "sampled")));
  std::string uses;
  for (const char* when : {"before", "after"}) {
    const auto shown = ToolBenefitsOf(when, found(when, "sampled"), found(when, kWithoutTools));
    for (const ShownToolBenefit& one : shown) {
      uses += fmt::format("<h3>{} training, {} trajectories</h3>\n", when, one.use.pairs);
      uses += UseHtml(one);
    }
  }
  if (uses.empty()) return html;
  return html +
         "<h2>With tools and without</h2>\n<p class=\"dim\">The same tasks of test, sampled, with "
         "the tools and with the tools taken away. Overuse: it calls where it needs no tool. "
         "Myopia: it fails with tools where it does not without.</p>\n" +
         uses;
}

}  // namespace hone
