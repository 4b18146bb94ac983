#include "evaluate/compare/comparison_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/html.h"
#include "evaluate/compare/comparison_text.h"
#include "evaluate/compare/dot_plot.h"
#include "evaluate/compare/plot.h"

namespace hone {
namespace {

constexpr std::string_view kStyle = R"(
body { max-width: 72rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line);
         vertical-align: top; white-space: nowrap; }
td.long { white-space: normal; min-width: 16rem; overflow-wrap: anywhere; }
th { font-weight: 600; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1.5rem;
            margin-top: 1.5rem; }
.dim { color: var(--dim); } .beware { border-left: 4px solid #d55e00; padding-left: .8rem; }
pre { overflow-x: auto; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
)";

std::string Paragraphs(const std::string& text, std::string_view kind) {
  std::string html;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("\n\n", begin), text.size());
    html += fmt::format("<p{}>{}</p>\n", kind, EscapeHtml(text.substr(begin, end - begin)));
    begin = end + 2;
  }
  return html;
}

// The mean over the seeds at each evaluation. Runs evaluate after the same steps; how many
// trajectories those took may differ a little.
Curve CurveOf(const ComparedArm& arm) {
  Curve curve{.name = arm.label};
  size_t points = SIZE_MAX;
  for (const ComparedRun* run : arm.runs) points = std::min(points, run->dev.size());
  for (size_t i = 0; !arm.runs.empty() && i < points; ++i) {
    PlotPoint point{.low = 1, .high = 0};
    for (const ComparedRun* run : arm.runs) {
      const DevPoint& dev = run->dev[i];
      point.x += dev.trajectories / static_cast<double>(arm.runs.size());
      point.y += dev.sampled / static_cast<double>(arm.runs.size());
      point.low = std::min(point.low, dev.sampled);
      point.high = std::max(point.high, dev.sampled);
    }
    curve.points.push_back(point);
  }
  return curve;
}

// What each arm does of each of several environments, and what it forgot on the way.
std::string EnvironmentPicture(const ComparedSection& section, const SectionReport& report) {
  DotPlot dots{.title = "Each environment: success on test, and forgotten since its best on dev",
               .x_label = "% of tasks, sampled, with 95 % intervals over seeds and tasks"};
  for (size_t k = 0; k < report.kinds.size(); ++k) {
    if (!IsOfEnvironment(report.kinds[k].name)) continue;
    dots.rows.push_back({.label = report.kinds[k].label});
    for (size_t arm = 0; arm < section.arms.size(); ++arm) {
      const Quantity& quantity = report.quantities[arm][k];
      std::optional<Interval> value = quantity.mean;
      if (value) *value = {100 * value->value, 100 * value->low, 100 * value->high};
      dots.rows.push_back(
          {"  " + section.arms[arm].label, value, quantity.has_interval, arm != section.baseline});
    }
  }
  return dots.rows.empty() ? "" : ToSvg(dots);
}

std::string Pictures(const ComparedSection& section, const SectionReport& report) {
  Plot plot{.title = "Success on dev, sampled: mean and range over seeds",
            .x_label = "trajectories",
            .y_label = "share of tasks"};
  for (const ComparedArm& arm : section.arms) {
    Curve curve = CurveOf(arm);
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  std::string html;
  for (size_t k = 0; k < report.kinds.size(); ++k) {
    const QuantityKind& kind = report.kinds[k];
    if (kind.name != "test/sampled" && kind.name != "test/greedy" && kind.name != "calls") continue;
    const bool share = kind.unit == QuantityKind::Unit::kShare;
    DotPlot dots{.title = fmt::format("{}: difference to {}", kind.label,
                                      section.arms[section.baseline].label),
                 .x_label = share ? "points (%), with 95 % intervals; grey: no effect shown"
                                  : "with 95 % intervals; grey: no effect shown"};
    bool any = false;
    for (size_t arm = 0; arm < section.arms.size(); ++arm) {
      if (arm == section.baseline) continue;
      const Difference& difference = report.differences[arm][k];
      std::optional<Interval> value = difference.mean;
      any |= value.has_value();
      if (value && share) *value = {100 * value->value, 100 * value->low, 100 * value->high};
      dots.rows.push_back(
          {section.arms[arm].label, value, difference.has_interval, !difference.NoEffectShown()});
    }
    if (any) html += ToSvg(dots);
  }
  html += EnvironmentPicture(section, report);
  if (plot.curves.empty() && html.empty()) return "";
  const std::string curves = plot.curves.empty() ? "" : ToSvg(plot);
  return fmt::format("<div class=\"pictures\"><div>{}</div><div>{}</div></div>\n", curves, html);
}

}  // namespace

std::string ComparisonPage(const ComparisonText& head, const std::vector<ComparedSection>& sections,
                           const std::vector<SectionReport>& reports,
                           std::span<const ComparedRun> runs,
                           const std::vector<std::string>& problems) {
  std::string body = fmt::format("<h1>{}</h1>\n", EscapeHtml(head.title));
  body += Paragraphs(head.text, "");
  for (const ReportTable& table : head.claims) {
    body += fmt::format("<h2>{}</h2>\n{}", EscapeHtml(table.heading), HtmlTable(table.rows));
    body += Paragraphs(table.note, " class=\"dim\"");
  }
  for (const std::string& problem : problems) {
    body += fmt::format("<p class=\"beware\"><b>Beware:</b> {}.</p>\n", EscapeHtml(problem));
  }
  for (size_t i = 0; i < sections.size(); ++i) {
    const ComparedSection& section = sections[i];
    if (!section.title.empty() && section.title != head.title) {
      body += fmt::format("<h2>{}</h2>\n", EscapeHtml(section.title));
    }
    body += Paragraphs(section.question, " style=\"font-style:italic\"");
    body += Paragraphs(section.text, "");
    body += Paragraphs(ReadingNotes(section), " class=\"dim\"");
    for (const std::string& warning : reports[i].warnings) {
      body += fmt::format("<p class=\"beware\">{}</p>\n", EscapeHtml(warning));
    }
    const std::vector<ReportTable> tables = TablesOf(section, reports[i]);
    for (size_t t = 0; t < tables.size(); ++t) {
      body +=
          fmt::format("<h3>{}</h3>\n{}", EscapeHtml(tables[t].heading), HtmlTable(tables[t].rows));
      body += Paragraphs(tables[t].note, " class=\"dim\"");
      // What was asked first, then the pictures, then the rest.
      if (t == 0) body += Pictures(section, reports[i]);
    }
  }
  for (const ReportTable& table : head.tables) {
    if (table.rows.empty()) continue;
    body += fmt::format("<h2>{}</h2>\n{}", EscapeHtml(table.heading), HtmlTable(table.rows));
    body += Paragraphs(table.note, " class=\"dim\"");
  }
  body += fmt::format("<h2>Every run</h2>\n{}", HtmlTable(RunRows(runs)));
  if (!head.command.empty()) {
    body += fmt::format("<h2>Made by</h2>\n<pre>{}</pre>\n", EscapeHtml(head.command));
  }
  return HtmlPage(head.title, kStyle, body);
}

}  // namespace hone
