#include "evaluate/compare/comparison_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/html.h"
#include "evaluate/figure_text.h"

namespace hone {
namespace {

using Unit = QuantityKind::Unit;

size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not within a character
  }));
}

// A large number as people say it.
std::string Short(double value) {
  if (std::abs(value) >= 999'950) return fmt::format("{:.2f} M", value / 1e6);
  if (std::abs(value) >= 9'999.5) return fmt::format("{:.1f} k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

std::string Plain(Unit unit, double value, bool sign) {
  // What rounds to nothing has no sign.
  if (std::abs(value) < (unit == Unit::kShare ? 0.0005 : 0.005)) value = 0, sign = false;
  switch (unit) {
    case Unit::kShare:
      return sign ? fmt::format("{:+.1f}", 100 * value) : fmt::format("{:.1f}", 100 * value);
    case Unit::kNumber: return sign ? fmt::format("{:+.2f}", value) : fmt::format("{:.2f}", value);
    case Unit::kCount: return Short(value);
    case Unit::kSeconds: return fmt::format("{:.0f} s", value);
  }
  return "";
}

std::string WithInterval(Unit unit, const Interval& value, bool has_interval, bool sign) {
  std::string text = Plain(unit, value.value, sign);
  const bool counted = unit == Unit::kCount || unit == Unit::kSeconds;
  if (!has_interval || counted) return text;
  return text +
         fmt::format(" [{}, {}]", Plain(unit, value.low, sign), Plain(unit, value.high, sign));
}

std::optional<size_t> PlaceOf(const SectionReport& report, std::string_view name) {
  for (size_t k = 0; k < report.kinds.size(); ++k) {
    if (report.kinds[k].name == name) return k;
  }
  return std::nullopt;
}

bool SomebodyHas(const SectionReport& report, size_t kind) {
  return std::any_of(report.quantities.begin(), report.quantities.end(),
                     [&](const auto& row) { return row[kind].mean.has_value(); });
}

std::string Heading(const QuantityKind& kind) {
  return kind.unit == Unit::kShare ? kind.label + ", %" : kind.label;
}

std::string LabelOf(const ComparedSection& section, size_t arm) {
  const std::string& label = section.arms[arm].label;
  return arm == section.baseline && section.arms.size() > 1 ? label + " (baseline)" : label;
}

std::string SeedText(const std::vector<uint64_t>& seeds) {
  if (seeds.size() < 3) return fmt::format("{}", fmt::join(seeds, " and "));
  return fmt::format("{} to {}", seeds.front(), seeds.back());
}

// A cell of Markdown must not end it.
std::string Cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

// Tables with some of the quantities, by what they are about.
struct TableLayout {
  std::string heading;
  std::vector<std::string> kinds;  // names; those that no run has are left out
  bool with_lowest = false;        // the lowest seed of test, sampled
};

std::vector<TableLayout> TableLayouts(const SectionReport& report) {
  std::vector<TableLayout> layouts = {
      {"Success on test", {"start/sampled", "start/greedy", "test/sampled", "test/greedy"}, true},
      {"Calls (test, sampled unless it says greedy)",
       {"needless_calls", "calls", "wasted_calls", "start_calls/greedy", "calls/greedy"}},
      {"Success by family (test, sampled)", {}},
      {"Success by environment (test, sampled), and what was forgotten of it (dev)", {}},
      {"What never occurs in training",
       {"unseen-kinds/sampled", "unseen-kinds/greedy", "unseen-phrases/sampled",
        "unseen-phrases/greedy"}},
      {"Success on dev, sampled, over the whole run", {"dev/mean"}},
      {"What it took",
       {"trajectories", "sampled_tokens", "real_calls", "dollars", "hours", "ratio_tokens",
        "seconds"}}};
  for (const QuantityKind& kind : report.kinds) {
    if (kind.name.starts_with("family/")) layouts[2].kinds.push_back(kind.name);
    if (IsOfEnvironment(kind.name)) layouts[3].kinds.push_back(kind.name);
  }
  return layouts;
}

TableRows QuantityRows(const ComparedSection& section, const SectionReport& report,
                       const TableLayout& layout) {
  std::vector<size_t> kinds;
  for (const std::string& name : layout.kinds) {
    const std::optional<size_t> place = PlaceOf(report, name);
    if (place && SomebodyHas(report, *place)) kinds.push_back(*place);
  }
  if (kinds.empty()) return {};
  const bool lowest = layout.with_lowest && section.seeds.size() > 1;
  TableRows rows(1, {"arm"});
  for (const size_t kind : kinds) {
    std::string heading = Heading(report.kinds[kind]);
    if (report.kinds[kind].name == "calls" && report.gold_calls) {
      heading += fmt::format(" (gold {:.2f})", *report.gold_calls);
    }
    rows[0].push_back(std::move(heading));
  }
  const std::optional<size_t> sampled = PlaceOf(report, "test/sampled");
  if (lowest) rows[0].push_back("lowest seed, sampled, %");
  for (size_t arm = 0; arm < section.arms.size(); ++arm) {
    rows.push_back({LabelOf(section, arm)});
    for (const size_t kind : kinds) {
      rows.back().push_back(QuantityText(report.kinds[kind], report.quantities[arm][kind]));
    }
    if (!lowest) continue;
    const Quantity& quantity = report.quantities[arm][*sampled];
    rows.back().push_back(quantity.lowest ? Plain(Unit::kShare, *quantity.lowest, false) : "-");
  }
  return rows;
}

// The policy without rl, below the arms: in the column of what arms have after it.
void AddControlRows(const ComparedSection& section, const SectionReport& report, TableRows* rows) {
  if (rows->empty()) return;
  const std::vector<std::string> heading = (*rows)[0];  // a copy: rows are added
  const auto column = [&](std::string_view label) {
    return std::find(heading.begin(), heading.end(), label) - heading.begin();
  };
  for (size_t i = 0; i < section.controls.size(); ++i) {
    const ComparedControl& control = section.controls[i];
    const Quantity& quantity = report.controls[i];
    std::vector<std::string> row(heading.size(), "-");
    const auto put = [&](std::string_view label, std::string text) {
      const auto place = static_cast<size_t>(column(label));
      if (place < row.size()) row[place] = std::move(text);
    };
    row[0] = control.label;
    put(control.greedy ? "test, greedy, %" : "test, sampled, %",
        quantity.mean ? WithInterval(Unit::kShare, *quantity.mean, quantity.has_interval, false)
                      : "not measured");
    if (!control.greedy && quantity.lowest) {
      put("lowest seed, sampled, %", Plain(Unit::kShare, *quantity.lowest, false));
    }
    rows->push_back(std::move(row));
  }
}

// What each arm has beyond the policy that it began with.
TableRows OverControlRows(const ComparedSection& section, const SectionReport& report) {
  const bool any = std::any_of(report.controls.begin(), report.controls.end(),
                               [](const Quantity& one) { return one.mean.has_value(); });
  if (!any) return {};
  TableRows rows(1, {"arm"});
  for (const ComparedControl& control : section.controls) {
    rows[0].push_back(
        fmt::format("{}over the {}", control.greedy ? "greedy, " : "", control.label));
  }
  for (size_t arm = 0; arm < section.arms.size(); ++arm) {
    rows.push_back({LabelOf(section, arm)});
    for (size_t i = 0; i < section.controls.size(); ++i) {
      const Difference& difference = report.over_controls[arm][i];
      rows.back().push_back(!report.controls[i].mean ? "not measured"
                            : !difference.mean       ? "-"
                                                     : WithInterval(Unit::kShare, *difference.mean,
                                                                    difference.has_interval, true));
    }
  }
  return rows;
}

TableRows SeedRows(const ComparedSection& section, const SectionReport& report,
                   const std::string& name) {
  const std::optional<size_t> kind = PlaceOf(report, name);
  if (!kind || !SomebodyHas(report, *kind)) return {};
  TableRows rows(1, {Heading(report.kinds[*kind])});
  for (const uint64_t seed : section.seeds) rows[0].push_back(fmt::format("seed {}", seed));
  for (size_t arm = 0; arm < section.arms.size(); ++arm) {
    rows.push_back({LabelOf(section, arm)});
    for (const std::optional<double>& value : report.quantities[arm][*kind].by_seed) {
      rows.back().push_back(value ? Plain(report.kinds[*kind].unit, *value, false) : "-");
    }
  }
  return rows;
}

TableRows DifferenceRows(const ComparedSection& section, const SectionReport& report) {
  TableRows rows(1, {"arm", "of", "difference", "by seed", "seeds", "what it shows"});
  for (size_t arm = 0; arm < section.arms.size(); ++arm) {
    if (arm == section.baseline) continue;
    std::string label = section.arms[arm].label;
    for (size_t k = 0; k < report.kinds.size(); ++k) {
      const QuantityKind& kind = report.kinds[k];
      if (!kind.paired || kind.name.starts_with("family/") || kind.name.starts_with("unseen")) {
        continue;
      }
      const Difference& difference = report.differences[arm][k];
      if (!difference.mean) continue;
      std::string seeds;
      for (const std::optional<double>& value : difference.by_seed) {
        seeds += fmt::format("{}{}", seeds.empty() ? "" : " ",
                             value ? Plain(kind.unit, *value, true) : "-");
      }
      rows.push_back({label, Heading(kind), DifferenceText(kind, difference), seeds,
                      SignText(difference), VerdictText(difference)});
      label = "";  // once is enough
    }
  }
  return rows.size() > 1 ? rows : TableRows();
}

TableRows GoalRows(const ComparedSection& section, const SectionReport& report) {
  const bool any = std::any_of(report.goals.begin(), report.goals.end(),
                               [](const GoalTimes& goal) { return goal.median.has_value(); });
  if (!any) return {};
  TableRows rows(1, {"arm", "median", "to the baseline's", "earlier than the baseline",
                     "log-rank: arrivals over expected"});
  for (const uint64_t seed : section.seeds) rows[0].push_back(fmt::format("seed {}", seed));
  for (size_t arm = 0; arm < section.arms.size(); ++arm) {
    const GoalTimes& goal = report.goals[arm];
    rows.push_back({LabelOf(section, arm), GoalText(goal),
                    goal.ratio ? fmt::format("{:.2f}x", *goal.ratio) : "-"});
    rows.back().push_back(
        goal.race ? fmt::format("{} of {}, later {} (p = {:.2f})", goal.race->a_first,
                                goal.race->a_first + goal.race->b_first + goal.race->ties,
                                goal.race->b_first, goal.race->p)
                  : "-");
    rows.back().push_back(goal.log_rank
                              ? fmt::format("{:+.1f} (p = {:.2f})",
                                            goal.log_rank->observed - goal.log_rank->expected,
                                            goal.log_rank->p)
                              : "-");
    for (const std::optional<Reached>& run : goal.by_seed) {
      rows.back().push_back(!run ? "-" : run->at ? Short(*run->at) : "never");
    }
  }
  return rows;
}

}  // namespace

std::string MarkdownTable(const TableRows& rows) {
  if (rows.empty()) return "";
  std::vector<size_t> widths(rows[0].size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(Cell(row[i])));
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string cell = Cell(rows[r][i]);
      text += fmt::format("| {}{} ", cell, std::string(widths[i] - WidthOf(cell), ' '));
    }
    text += "|\n";
    if (r > 0) continue;
    for (const size_t width : widths) text += "|" + std::string(width + 2, '-');
    text += "|\n";
  }
  return text;
}

std::string HtmlTable(const TableRows& rows) {
  std::string html = "<div class=\"scroll\"><table>\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    html += "<tr>";
    for (const std::string& cell : rows[r]) {
      const char* tag = r == 0 ? "th" : "td";
      const bool is_long = r > 0 && cell.size() > 60;
      html +=
          fmt::format("<{0}{1}>{2}</{0}>", tag, is_long ? " class=\"long\"" : "", EscapeHtml(cell));
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string QuantityText(const QuantityKind& kind, const Quantity& quantity) {
  if (!quantity.mean) return "-";
  return WithInterval(kind.unit, *quantity.mean, quantity.has_interval, false);
}

std::string DifferenceText(const QuantityKind& kind, const Difference& difference) {
  if (!difference.mean) return "-";
  return WithInterval(kind.unit, *difference.mean, difference.has_interval, true);
}

std::string SignText(const Difference& difference) {
  std::vector<std::string> parts;
  if (difference.more > 0) parts.push_back(fmt::format("{} more", difference.more));
  if (difference.less > 0) parts.push_back(fmt::format("{} less", difference.less));
  if (difference.equal > 0) parts.push_back(fmt::format("{} equal", difference.equal));
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string GoalText(const GoalTimes& goal) {
  if (!goal.median) return "-";
  const std::string value = Short(goal.median->value);
  if (!goal.median->later) return value;
  return fmt::format("later than {} ({} of {} reached it)", value, goal.median->reached,
                     goal.median->runs);
}

std::string VerdictText(const Difference& difference) {
  if (!difference.mean) return "nothing to compare yet";
  if (difference.TooFewSeeds()) return "too few seeds";
  if (difference.NoEffectShown()) return "no effect shown";
  return difference.mean->value > 0 ? "higher" : "lower";
}

TableRows RunRows(std::span<const ComparedRun> runs) {
  TableRows rows(1, {"arm", "seed", "status", "steps", "trajectories", "test, sampled, %",
                     "test, greedy, %", "start", "weights"});
  for (const ComparedRun& run : runs) {
    const auto success = [&](const char* name) -> std::string {
      const std::optional<FigureCell> figure = FigureIn(run.evaluations.Find(name), "success");
      return figure ? fmt::format("{:.1f}", 100 * figure->value) : "-";
    };
    const auto digits = [](const std::string& hash) {
      return hash.empty() ? std::string("-") : hash.substr(0, 12);
    };
    std::string status(StatusName(run.status));
    if (!run.why.empty()) status += ": " + run.why;
    rows.push_back({run.arm, fmt::format("{}", run.seed), status, fmt::format("{}", run.steps),
                    Short(run.trajectories), success("after/test/sampled"),
                    success("after/test/greedy"), digits(run.start), digits(run.weights)});
  }
  return rows;
}

std::vector<ReportTable> TablesOf(const ComparedSection& section, const SectionReport& report) {
  std::vector<ReportTable> tables;
  const auto add = [&](std::string heading, TableRows rows, std::string note = "") {
    if (!rows.empty()) tables.push_back({std::move(heading), std::move(rows), std::move(note)});
  };
  const std::vector<TableLayout> layouts = TableLayouts(report);
  TableRows success = QuantityRows(section, report, layouts[0]);
  AddControlRows(section, report, &success);
  add(layouts[0].heading, std::move(success));
  add("Success on test over the start without rl, points, paired by seed and task",
      OverControlRows(section, report));
  TableRows differences = DifferenceRows(section, report);
  const std::string chance = fmt::format(
      "{} differences are shown; where there is nothing to find, about one in twenty "
      "excludes 0 by chance.",
      std::max<size_t>(differences.size(), 1) - 1);
  add(fmt::format("Differences to {}, paired by seed and task",
                  section.arms[section.baseline].label),
      std::move(differences), chance);
  for (size_t i = 1; i + 1 < layouts.size(); ++i) {
    add(layouts[i].heading, QuantityRows(section, report, layouts[i]));
  }
  add(fmt::format("Trajectories until {:g} % success on dev, sampled", 100 * section.goal),
      GoalRows(section, report),
      "\"never\": not within the run; it counts as later than all that were seen. p of log-rank: "
      "the share of all ways of swapping the two arms' runs of a seed that differ as much.");
  add(layouts.back().heading, QuantityRows(section, report, layouts.back()));
  if (section.seeds.size() > 1) {
    add("Each seed, sampled", SeedRows(section, report, "test/sampled"));
    add("Each seed, greedy", SeedRows(section, report, "test/greedy"));
  }
  return tables;
}

std::string ReadingNotes(const ComparedSection& section) {
  int64_t tasks = 0;
  for (const ComparedArm& arm : section.arms) {
    for (const ComparedRun* run : arm.runs) {
      const Json* made = run->evaluations.Find("after/test/sampled");
      const Json* count = made == nullptr ? nullptr : made->Find("tasks");
      if (count != nullptr && count->is_integer()) tasks = std::max(tasks, count->AsInteger());
    }
  }
  std::string text;
  if (section.seeds.size() == 1) {
    text = fmt::format(
        "One seed ({}): intervals are over tasks alone and say nothing about other "
        "seeds.",
        section.seeds[0]);
  } else if (section.seeds.size() == 2) {
    text = fmt::format("Means over seeds {}, too few for intervals: look at each seed.",
                       SeedText(section.seeds));
  } else {
    text = fmt::format(
        "Means over seeds {}; in brackets 95 % intervals over seeds and tasks (of families, "
        "needless and wasted calls over seeds alone).",
        SeedText(section.seeds));
  }
  if (section.seeds.size() > 1) {
    std::vector<std::string> unfinished;
    for (const ComparedArm& arm : section.arms) {
      if (arm.runs.size() == section.seeds.size()) continue;
      unfinished.push_back(fmt::format("{} has {}", arm.label, arm.runs.size()));
    }
    if (!unfinished.empty()) {
      text += fmt::format(
          " Of these {} seeds {}: means are of those, differences of the seeds "
          "that both have.",
          section.seeds.size(), fmt::join(unfinished, ", "));
    }
  }
  if (tasks > 0) text += fmt::format(" Test: {} tasks on the real tools.", tasks);
  return text;
}

std::string ComparisonMarkdown(const ComparisonText& head,
                               const std::vector<ComparedSection>& sections,
                               const std::vector<SectionReport>& reports,
                               std::span<const ComparedRun> runs,
                               const std::vector<std::string>& problems) {
  std::string text = fmt::format("# {}\n\n", head.title);
  if (!head.text.empty()) text += head.text + "\n\n";
  if (!head.command.empty()) text += fmt::format("Made by\n\n    {}\n\n", head.command);
  for (const ReportTable& table : head.claims) {
    text +=
        fmt::format("## {}\n\n{}\n{}\n\n", table.heading, MarkdownTable(table.rows), table.note);
  }
  for (const std::string& problem : problems) text += fmt::format("**Beware:** {}.\n\n", problem);
  for (size_t i = 0; i < sections.size(); ++i) {
    const ComparedSection& section = sections[i];
    const SectionReport& report = reports[i];
    if (sections.size() > 1 || section.title != head.title) {
      if (!section.title.empty()) text += fmt::format("## {}\n\n", section.title);
    }
    if (!section.question.empty()) text += fmt::format("*{}*\n\n", section.question);
    if (!section.text.empty()) text += section.text + "\n\n";
    text += ReadingNotes(section) + "\n\n";
    for (const std::string& warning : report.warnings) text += fmt::format("- {}\n", warning);
    if (!report.warnings.empty()) text += "\n";
    for (const ReportTable& table : TablesOf(section, report)) {
      text += fmt::format("### {}\n\n{}\n", table.heading, MarkdownTable(table.rows));
      if (!table.note.empty()) text += table.note + "\n\n";
    }
  }
  const char* const level = sections.size() > 1 ? "##" : "###";
  for (const ReportTable& table : head.tables) {
    if (table.rows.empty()) continue;
    text += fmt::format("{} {}\n\n{}\n", level, table.heading, MarkdownTable(table.rows));
    if (!table.note.empty()) text += table.note + "\n\n";
  }
  text += fmt::format("{} Every run\n\n{}", level, MarkdownTable(RunRows(runs)));
  return text;
}

}  // namespace hone
