#include "app/views/run_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/views/credit_view.h"
#include "app/views/run_curves.h"
#include "app/views/text_views.h"
#include "app/views/tool_benefit_view.h"
#include "app/views/train_progress.h"
#include "base/file.h"
#include "base/html.h"
#include "evaluate/forgetting.h"
#include "train/before_after.h"
#include "train/folder/run_folder.h"

namespace hone {
namespace {

constexpr std::string_view kRunStyle = R"(
body { max-width: 76rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { margin-top: 2.4rem; font-size: 1.15rem; }
.dim, small { color: var(--dim); } .state { margin-top: 0; color: var(--dim); }
.cards { display: flex; gap: 1rem; flex-wrap: wrap; margin: 1.2rem 0; }
.card { flex: 1 1 12rem; border: 1px solid var(--line); border-radius: 8px; padding: .7rem 1rem; }
.card b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem 1.6rem .25rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--dim); font-size: .85rem; }
td.number { text-align: right; } tr.main td { font-weight: 600; } td.part { padding-left: 1.4rem; }
td small { font-weight: 400; }
.pairs td:first-child { min-width: 12rem; } .pairs td + td { min-width: 9rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr)); gap: 1rem 1.5rem; }
.plots svg { width: 100%; height: auto; }
.bar { display: inline-block; height: .7rem; background: #0072b2; border-radius: 2px; vertical-align: baseline; }
pre, code { font: 13px/1.5 ui-monospace, monospace; } pre { overflow-x: auto; padding: .8rem 1rem;
  border: 1px solid var(--line); border-radius: 8px; }
summary { cursor: pointer; } .alarm { color: #d55e00; }
.example { border-left: 3px solid var(--line); padding-left: 1rem; margin: 1.2rem 0; }
.example p { margin: .4rem 0; } .terms { color: var(--dim); font-size: .85rem; }
.earned { background: rgba(22,163,74,.4); border-radius: 3px; padding: 0 .3rem; }
.charged { background: rgba(220,38,38,.4); border-radius: 3px; padding: 0 .3rem; }
)";

// 1234567 as "1,234,567".
std::string Grouped(double value) {
  std::string digits = fmt::format("{:.0f}", std::abs(value));
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return value < 0 ? "-" + digits : digits;
}

std::string Text(std::string_view text) { return EscapeHtml(Printable(text)); }

double TotalOf(const RunHistory& run, std::string_view name) {
  const Json* total = run.state ? run.state->totals.Find(name) : nullptr;
  return total == nullptr ? 0 : total->AsDouble();
}

std::string NameOf(const RunHistory& run) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(run.folder, ignored);
  return whole.filename().string();
}

// "42 s", "5 min 12 s", "3 h 7 min".
std::string TimeText(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string StateOf(const RunHistory& run) {
  if (!run.state) return "begun; nothing is saved yet";
  if (run.result) {
    return fmt::format(
        "finished: {} steps, {} trajectories, {}", Grouped(static_cast<double>(run.state->step)),
        Grouped(TotalOf(run, "trajectories")), TimeText(TotalOf(run, "wall_seconds")));
  }
  return fmt::format("not finished: {} steps are saved; hone train goes on with it",
                     run.state->step);
}

std::string CellHtml(const std::optional<FigureCell>& cell) {
  if (!cell) return "<span class=\"dim\">–</span>";
  FigureCell bare = *cell;
  bare.interval.reset();
  bare.of.reset();
  std::string html = bare.Text();
  if (cell->interval) {
    const double scale = cell->share ? 100 : 1;
    const int digits = cell->share ? 1 : 2;
    html += fmt::format(" <small>[{:.{}f}, {:.{}f}]</small>", scale * cell->interval->low, digits,
                        scale * cell->interval->high, digits);
  }
  if (cell->of) html += fmt::format(" <small>of {}</small>", *cell->of);
  return html;
}

std::string Cards(const std::vector<BeforeAfterTable>& tables) {
  if (tables.empty()) return "";
  std::string html = "<div class=\"cards\">\n";
  for (const BeforeAfterRow& row : tables[0].rows) {
    if (!row.main || !row.after) continue;
    const auto bare = [](FigureCell cell, bool last) {
      cell.interval.reset();
      if (!last) cell.of.reset();
      return cell.Text();
    };
    html += fmt::format("<div class=\"card\">{}<b>{}{}</b></div>\n", Text(row.label),
                        row.before ? bare(*row.before, false) + " → " : "", bare(*row.after, true));
  }
  return html + "</div>\n";
}

std::string BeforeAfterHtml(const std::vector<BeforeAfterTable>& tables) {
  std::string html = "<h2>Before and after, on the real tools</h2>\n";
  if (tables.empty()) return html + "<p class=\"dim\">Not measured yet.</p>\n";
  html +=
      "<p class=\"dim\">Before: the policy that trial and error began with. In brackets 95 % "
      "intervals over tasks: other tasks of the same sort would give other numbers; other seeds "
      "are not in them.</p>\n";
  for (const BeforeAfterTable& table : tables) {
    html += fmt::format(
        "<table class=\"pairs\"><tr><th>{}, {} "
        "tasks</th><th>before</th><th>after</th><th></th></tr>\n",
        Text(table.split), table.tasks);
    for (const BeforeAfterRow& row : table.rows) {
      html +=
          fmt::format("<tr{}><td{}>{}</td><td>{}</td><td>{}</td><td><small>{}</small></td></tr>\n",
                      row.main ? " class=\"main\"" : "", row.indent > 0 ? " class=\"part\"" : "",
                      Text(row.label), CellHtml(row.before), CellHtml(row.after), Text(row.about));
    }
    html += "</table><br>\n";
  }
  return html;
}

std::string ForgettingHtml(const RunHistory& run) {
  const ForgettingTable table =
      run.state ? ForgettingOf(run.state->evaluations) : ForgettingTable();
  if (table.rows.empty()) return "";
  std::string html = fmt::format(
      "<h2>What is left of each environment</h2>\n<p class=\"dim\">Success on the same {} dev "
      "tasks after each stage, sampled. Forgotten: after its best earlier stage less after the "
      "last; below 0 it gained.</p>\n<table><tr><th></th>",
      table.tasks);
  for (const std::string& stage : table.stages) {
    html += fmt::format("<th>after {}</th>", Text(stage));
  }
  html += "<th>forgotten</th></tr>\n";
  for (const ForgettingRow& row : table.rows) {
    html += fmt::format("<tr><td>{}</td>", Text(row.environment));
    for (const auto& cell : row.after) html += fmt::format("<td>{}</td>", CellHtml(cell));
    html += fmt::format("<td>{}</td></tr>\n", CellHtml(row.forgotten));
  }
  return html + "</table>\n";
}

std::string CurvesHtml(const RunHistory& run) {
  std::string html = "<h2>Curves</h2>\n<div class=\"plots\">\n";
  const std::vector<Plot> plots = CurvesOf(run);
  if (plots.empty()) return "<h2>Curves</h2>\n<p class=\"dim\">No step is logged yet.</p>\n";
  for (const Plot& plot : plots) html += "<div>" + ToSvg(plot) + "</div>\n";
  return html + "</div>\n";
}

std::string ChecksHtml(const RunHistory& run) {
  std::string html = "<h2>What can be checked</h2>\n<ul>\n";
  if (const double tokens = TotalOf(run, "ratio_tokens"); tokens > 0) {
    html += fmt::format(
        "<li>On-policy ratio exactly 1.0 for all <b>{}</b> tokens of first mini-batches: the "
        "sampler and the trainer are one engine. Asserted in every step.</li>\n",
        Grouped(tokens));
  }
  if (run.state && run.state->totals.Find("real_calls") != nullptr) {
    html += fmt::format(
        "<li><b>{}</b> calls of real tools during trial and error; {} were answered by the "
        "simulator.</li>\n",
        Grouped(TotalOf(run, "real_calls")), Grouped(TotalOf(run, "simulated_calls")));
  }
  if (const double trajectories = TotalOf(run, "trajectories"); trajectories > 0) {
    html += fmt::format("<li>{} trajectories, {} tokens drawn.</li>\n", Grouped(trajectories),
                        Grouped(TotalOf(run, "sampled_tokens")));
  }
  const Json* weights = run.result ? run.result->Find("weights") : nullptr;
  if (weights != nullptr && weights->is_string()) {
    html += fmt::format(
        "<li>SHA-256 of the weights: <code>{}</code>. The same recipe gives the same, on one "
        "thread or many, interrupted or not.</li>\n",
        Text(weights->AsString()));
  }
  return html + "</ul>\n";
}

std::string TimeHtml(const RunHistory& run) {
  const double wall = TotalOf(run, "wall_seconds");
  if (wall <= 0) return "";
  std::vector<std::pair<std::string, double>> passes;
  double sum = 0;
  for (const auto& [name, value] : run.state->totals.AsObject()) {
    if (!name.starts_with("seconds/")) continue;
    passes.emplace_back(name.substr(8), value.AsDouble());
    sum += value.AsDouble();
  }
  std::stable_sort(passes.begin(), passes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  passes.emplace_back("all passes", sum);
  std::string html =
      "<h2>Where the time went</h2>\n<table><tr><th>pass</th><th>seconds</th><th>share</th>"
      "<th></th></tr>\n";
  for (const auto& [name, seconds] : passes) {
    const bool all = &name == &passes.back().first;
    html += fmt::format(
        "<tr{}><td>{}</td><td class=\"number\">{:.1f}</td><td class=\"number\">{:.1f} %</td><td>{}"
        "</td></tr>\n",
        all ? " class=\"main\"" : "", Text(name), seconds, 100 * seconds / wall,
        all ? ""
            : fmt::format("<span class=\"bar\" style=\"width:{:.1f}rem\"></span>",
                          20 * seconds / wall));
  }
  return html + fmt::format("</table><p class=\"dim\">of {:.1f} seconds in all.</p>\n", wall);
}

std::string AlarmsHtml(const RunHistory& run) {
  std::string html = "<h2>Alarms</h2>\n";
  if (!run.state || run.state->alarms.empty()) return html + "<p>None went off.</p>\n";
  const auto text = [](const Json& alarm, const char* key) {
    const Json* found = alarm.Find(key);
    return found != nullptr && found->is_string() ? Text(found->AsString()) : std::string();
  };
  int64_t first = 1;  // step of practice
  for (const RunHistory::Step& step : run.steps) {
    if (!step.values.contains("trajectories")) continue;
    first = step.step;
    break;
  }
  html += "<table><tr><th>step</th><th>alarm</th><th></th><th>remedy</th></tr>\n";
  for (const Json& alarm : run.state->alarms) {
    html += fmt::format(
        "<tr><td class=\"number\">{}</td><td class=\"alarm\">{} "
        "{}</td><td>{}</td><td>{}</td></tr>\n",
        StepOfAlarm(alarm, first).value_or(0), text(alarm, "severity"), text(alarm, "name"),
        text(alarm, "message"), text(alarm, "remedy"));
  }
  return html + "</table>\n";
}

std::string ScoreText(const ScoredTree& record, int32_t leaf) {
  std::string terms;
  for (const Score& score : record.scores) {
    if (score.leaf != leaf) continue;
    const std::optional<double> total = Total(score);
    if (total) terms = fmt::format("reward {:+.2f}:", *total);
    for (const RewardTerm& term : score.terms) {
      if (term.value)
        terms += fmt::format(" {} {:+.2f}", Text(term.name), term.weight * *term.value);
    }
  }
  return terms;
}

std::string ExamplesHtml(const RunHistory& run) {
  if (run.examples.empty()) return "";
  std::string html =
      "<h2>Examples, with the credit of each token</h2>\n<p class=\"dim\">The best and the worst "
      "trajectory of a group, from the first and the last steps. <span "
      "class=\"earned\">Green</span> "
      "was made likelier, <span class=\"charged\">red</span> less likely; grey was not written by "
      "the policy. Point at a token for its number.</p>\n";
  for (const RunHistory::Example& example : run.examples) {
    const ScoredTree& record = example.record;
    const float largest = LargestCredit(record.advantages);
    html +=
        fmt::format("<div class=\"example\"><p><b>step {}</b> <span class=\"dim\">{}</span></p>\n",
                    example.step, Text(record.tree.task.id));
    if (const std::string request = RequestOf(record.tree.task); !request.empty()) {
      html += fmt::format("<p>“{}”</p>\n", Text(request));
    }
    for (const int32_t leaf : {example.best, example.worst}) {
      const auto index = static_cast<size_t>(leaf);
      html += fmt::format("<p class=\"terms\">{}; {}</p>{}\n", ScoreText(record, leaf),
                          EndingName(record.tree.leaves[index].ending),
                          CreditTokens(record, leaf, record.advantages[index].values, largest,
                                       run.tokenizer.get()));
    }
    html += "</div>\n";
  }
  return html;
}

std::string NextHtml(const RunHistory& run) {
  const bool has_test_tasks =
      run.state && run.state->evaluations.Find("after/test/sampled") != nullptr;
  std::string html = "<h2>Next</h2>\n<table>\n";
  for (const auto& [command, about] : NextSteps(run.folder.string(), has_test_tasks)) {
    html += fmt::format("<tr><td><code>{}</code></td><td class=\"dim\">{}</td></tr>\n",
                        Text(command), Text(about));
  }
  return html + "</table>\n";
}

}  // namespace

std::string RunPage(const RunHistory& run) {
  const std::vector<BeforeAfterTable> tables =
      run.state ? BeforeAndAfter(run.state->evaluations) : std::vector<BeforeAfterTable>();
  const std::string name = NameOf(run);
  std::string html =
      fmt::format("<h1>{}</h1>\n<p class=\"state\">{}</p>\n", Text(name), StateOf(run));
  html += Cards(tables) + BeforeAfterHtml(tables) + ForgettingHtml(run) +
          (run.state ? ToolBenefitHtml(run.state->evaluations) : "") + CurvesHtml(run) +
          ChecksHtml(run) + TimeHtml(run) + AlarmsHtml(run) + ExamplesHtml(run);
  html += fmt::format(
      "<h2>Recipe</h2>\n<details><summary>every key with the value it had"
      "</summary><pre>{}</pre></details>\n",
      EscapeHtml(run.recipe));
  html += NextHtml(run);
  return HtmlPage(name + ", a run of hone", fmt::format("{}{}", kTokenStyle, kRunStyle), html);
}

Result<std::filesystem::path> WriteRunPage(const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const RunHistory run, ReadRunHistory(folder));
  const std::filesystem::path file = folder / "report.html";
  HONE_RETURN_IF_ERROR(WriteFileAtomic(file, RunPage(run)));
  return file;
}

}  // namespace hone
