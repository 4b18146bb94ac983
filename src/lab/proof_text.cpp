#include "lab/proof_text.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/html.h"
#include "evaluate/compare/plot.h"

namespace hone {
namespace {

constexpr double kLevel = 0.05;  // of the sign test over seeds

std::string RatioText(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.2f}", ratio) : "no way up";
}

std::string MedianText(const std::optional<MedianReached>& median) {
  if (!median) return "-";
  return fmt::format("{}{:.0f} ({}/{})", median->later ? "later than " : "", median->value,
                     median->reached, median->runs);
}

std::string Percent(const Quantity& quantity) {
  if (!quantity.mean) return "-";
  std::string text = fmt::format("{:.1f}", 100 * quantity.mean->value);
  if (quantity.has_interval) {
    text += fmt::format(" [{:.1f}, {:.1f}]", 100 * quantity.mean->low, 100 * quantity.mean->high);
  }
  return text;
}

std::string Plain(const Quantity& quantity) {
  if (!quantity.mean) return "-";
  std::string text = fmt::format("{:.2f}", quantity.mean->value);
  if (quantity.has_interval) {
    text += fmt::format(" [{:.2f}, {:.2f}]", quantity.mean->low, quantity.mean->high);
  }
  return text;
}

std::string Points(const Difference& difference, double factor, int digits) {
  if (!difference.mean) return "-";
  std::string text = fmt::format("{:+.{}f}", factor * difference.mean->value, digits);
  if (difference.has_interval) {
    text += fmt::format(" [{:+.{}f}, {:+.{}f}]", factor * difference.mean->low, digits,
                        factor * difference.mean->high, digits);
  }
  return text;
}

const ProofEffect* EffectOf(const ProofRow& row, ProofRole without, ProofRole with) {
  for (const ProofEffect& effect : row.effects) {
    if (effect.without == without && effect.with == with) return &effect;
  }
  return nullptr;
}

// "at 4 and 8 calls"
std::string Lengths(const std::vector<int>& lengths) {
  std::string text;
  for (size_t i = 0; i < lengths.size(); ++i) {
    text += i == 0 ? "" : i + 1 == lengths.size() ? " and " : ", ";
    text += std::to_string(lengths[i]);
  }
  return fmt::format("at {} call{}", text, lengths == std::vector<int>{1} ? "" : "s");
}

// At which lengths something is shown, which way, and where it is not.
struct Found {
  std::vector<int> more, less, none, unknown;

  std::string Text(const char* if_more, const char* if_less) const {
    std::vector<std::string> parts;
    if (!more.empty()) parts.push_back(fmt::format("{} {}", if_more, Lengths(more)));
    if (!less.empty()) parts.push_back(fmt::format("{} {}", if_less, Lengths(less)));
    if (!none.empty()) parts.push_back("no effect shown " + Lengths(none));
    if (!unknown.empty()) {
      parts.push_back("not told, because half of the runs or more did not reach the goal, " +
                      Lengths(unknown));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
  }
};

// Whether a ratio of trajectories is more than chance. Medians of few seeds resample badly: the
// seeds' own order must say the same.
bool ShowsTime(const ProofEffect& effect) {
  return effect.ratio && effect.race && !effect.ratio->NoEffectShown() && effect.race->p < kLevel;
}

std::string TimeSentence(const Proof& proof, ProofRole without, ProofRole with) {
  Found found;
  for (const ProofRow& row : proof.rows) {
    const ProofEffect* effect = EffectOf(row, without, with);
    if (effect == nullptr || !effect->race) continue;
    if (!effect->ratio) {
      found.unknown.push_back(row.length);
      continue;
    }
    auto& list = !ShowsTime(*effect)      ? found.none
                 : effect->ratio->low > 1 ? found.less
                                          : found.more;
    list.push_back(row.length);
  }
  return found.Text("more trajectories to the goal", "fewer trajectories to the goal");
}

std::string DifferenceSentence(const Proof& proof, ProofRole without, ProofRole with,
                               const Difference ProofEffect::*which) {
  Found found;
  for (const ProofRow& row : proof.rows) {
    const ProofEffect* effect = EffectOf(row, without, with);
    if (effect == nullptr || !(effect->*which).mean) continue;
    const Difference& difference = effect->*which;
    auto& list = difference.NoEffectShown()   ? found.none
                 : difference.mean->value > 0 ? found.more
                                              : found.less;
    list.push_back(row.length);
  }
  return found.Text("higher", "lower");
}

void AddSentence(const Proof& proof, const char* what, ProofRole without, ProofRole with,
                 std::vector<std::string>* sentences) {
  const std::string time = TimeSentence(proof, without, with);
  const std::string success = DifferenceSentence(proof, without, with, &ProofEffect::success);
  const std::string way = DifferenceSentence(proof, without, with, &ProofEffect::on_the_way);
  if (time.empty() && success.empty()) return;
  std::string text = std::string(what) + ": " + time;
  if (!way.empty())
    text +=
        (time.empty() ? "success on dev over the run: " : ". Success on dev over the run: ") + way;
  if (!success.empty()) text += ". Test success at the end: " + success;
  sentences->push_back(text + ".");
}

constexpr double kMargin = 0.03;  // of success: what simulated tools may cost and do "as well"

const PooledEffect* PooledOf(const Proof& proof, ProofRole without, ProofRole with) {
  for (const PooledEffect& effect : proof.pooled) {
    if (effect.without == without && effect.with == with) return &effect;
  }
  return nullptr;
}

const char* Shown(const Difference& difference) {
  if (difference.TooFewSeeds()) return "too few seeds";
  if (difference.NoEffectShown()) return "no effect shown";
  return difference.mean->value > 0 ? "higher" : "lower";
}

// What the whole is about, in one number each: all lengths together.
void AddPooledSentences(const Proof& proof, std::vector<std::string>* sentences) {
  const PooledEffect* credit = PooledOf(proof, ProofRole::kSmearedReal, ProofRole::kAttributedReal);
  if (credit != nullptr && credit->on_the_way.mean) {
    sentences->push_back(fmt::format(
        "The main measure, all lengths together: credit on the calls instead of smeared "
        "changes success on dev over the run by {} points (real tools): {}.",
        Points(credit->on_the_way, 100, 1), Shown(credit->on_the_way)));
  }
  const PooledEffect* simulated =
      PooledOf(proof, ProofRole::kAttributedReal, ProofRole::kAttributedSimulated);
  if (simulated != nullptr && simulated->success.mean) {
    const Difference& success = simulated->success;
    const bool no_worse = success.mean->low > -kMargin;
    const char* verdict = success.TooFewSeeds()                      ? "too few seeds"
                          : no_worse && success.mean->high < kMargin ? "as well, within 3 points"
                          : no_worse                                 ? "no worse, within 3 points"
                          : success.mean->high < -kMargin            ? "worse by more than 3 points"
                                                          : "whether within 3 points is not shown";
    sentences->push_back(fmt::format(
        "All lengths together: simulated instead of real tools in training change test success at "
        "the end by {} points (credit on the calls): {}.",
        Points(success, 100, 1), verdict));
  }
}

TableRows RoleTable(const Proof& proof, const char* first,
                    const std::function<std::string(const ProofRow&, size_t)>& cell) {
  TableRows rows = {{first}};
  for (int i = 0; i < kProofRoles; ++i) {
    rows[0].emplace_back(RoleLabel(static_cast<ProofRole>(i)));
  }
  for (const ProofRow& row : proof.rows) {
    std::vector<std::string>& cells = rows.emplace_back();
    cells.push_back(std::to_string(row.length));
    for (size_t i = 0; i < kProofRoles; ++i) cells.push_back(cell(row, i));
  }
  return rows;
}

Curve MeasuredCurve(const Proof& proof, ProofRole without, ProofRole with, std::string name) {
  Curve curve{.name = std::move(name), .dots = true};
  for (const ProofRow& row : proof.rows) {
    const ProofEffect* effect = EffectOf(row, without, with);
    if (effect == nullptr || !effect->ratio) continue;
    const ReachedRatio& ratio = *effect->ratio;
    if (ratio.at_least || ratio.at_most) continue;  // a bound is no point: the table has it
    // An interval that is open on one side cannot be drawn: the point alone is, the table has it.
    const bool closed = ratio.low > 0 && std::isfinite(ratio.high);
    curve.points.push_back({.x = static_cast<double>(row.length),
                            .y = ratio.value,
                            .low = closed ? ratio.low : ratio.value,
                            .high = closed ? ratio.high : ratio.value});
  }
  return curve;
}

Plot RatioPlot(const Proof& proof) {
  Plot plot{.title = "Trajectories to the goal, smeared / attributed: laboratory and measurement",
            .x_label = "calls in the chain",
            .y_label = "times as many"};
  Curve predicted{.name = "laboratory", .dashed = true, .dots = true};
  Curve root{.name = "laboratory, root", .dashed = true, .dots = true};
  for (const ProofRow& row : proof.rows) {
    for (Curve* curve : {&predicted, &root}) {
      const std::optional<double> ratio =
          row.Predicted(ProofRole::kSmearedReal, ProofRole::kAttributedReal, curve == &root);
      if (!ratio || !std::isfinite(*ratio)) continue;
      curve->points.push_back(
          {.x = static_cast<double>(row.length), .y = *ratio, .low = *ratio, .high = *ratio});
    }
  }
  for (Curve curve :
       {std::move(predicted), std::move(root),
        MeasuredCurve(proof, ProofRole::kSmearedReal, ProofRole::kAttributedReal,
                      "measured, real tools"),
        MeasuredCurve(proof, ProofRole::kSmearedSimulated, ProofRole::kAttributedSimulated,
                      "measured, simulated tools")}) {
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  return plot;
}

// The laboratory's noise and the trajectories that were taken, on one scale: the noise is known up
// to a factor, which is chosen so that the two agree for attributed credit on the mean (of
// logarithms) over the lengths.
Plot NoisePlot(const Proof& proof) {
  Plot plot{
      .title = "Trajectories to the goal, real tools (dots), and the laboratory's noise (dashed)",
      .x_label = "calls in the chain; noise scaled to attributed credit, all lengths together",
      .y_label = "trajectories"};
  plot.log_y = true;
  const auto measured = static_cast<size_t>(ProofRole::kAttributedReal);
  double logs = 0;
  int64_t count = 0;
  for (const ProofRow& row : proof.rows) {
    if (row.noise.size() < 2 || !std::isfinite(row.noise[1])) continue;
    if (!row.reached[measured] || row.reached[measured]->later) continue;
    logs += std::log(row.reached[measured]->value / row.noise[1]);
    ++count;
  }
  const double factor = count == 0 ? 0 : std::exp(logs / static_cast<double>(count));
  const std::pair<ProofRole, const char*> kLines[] = {{ProofRole::kSmearedReal, "smeared"},
                                                      {ProofRole::kAttributedReal, "attributed"},
                                                      {ProofRole::kPlacebo, "placebo"}};
  for (size_t i = 0; i < std::size(kLines); ++i) {
    Curve seen{.name = kLines[i].second, .dots = true};
    Curve expected{.name = fmt::format("{}, laboratory", kLines[i].second), .dashed = true};
    for (const ProofRow& row : proof.rows) {
      const auto x = static_cast<double>(row.length);
      // A median that is later than all that was seen is no number.
      const auto& reached = row.reached[static_cast<size_t>(kLines[i].first)];
      if (reached && !reached->later) {
        seen.points.push_back(
            {.x = x, .y = reached->value, .low = reached->value, .high = reached->value});
      }
      if (i < row.noise.size() && std::isfinite(row.noise[i]) && factor > 0) {
        const double y = factor * row.noise[i];
        expected.points.push_back({.x = x, .y = y, .low = y, .high = y});
      }
    }
    for (Curve* curve : {&seen, &expected}) {
      if (!curve->points.empty()) plot.curves.push_back(std::move(*curve));
    }
  }
  return plot;
}

Plot QuantityPlot(const Proof& proof, const char* title, const char* unit,
                  const std::vector<Quantity> ProofRow::*which) {
  Plot plot{.title = title, .x_label = "calls in the chain", .y_label = unit};
  for (size_t i = 0; i < kProofRoles; ++i) {
    Curve curve{.name = std::string(RoleLabel(static_cast<ProofRole>(i))), .dots = true};
    curve.dashed = i >= 4;
    for (const ProofRow& row : proof.rows) {
      const Quantity& quantity = (row.*which)[i];
      if (!quantity.mean) continue;
      const Interval& mean = *quantity.mean;
      curve.points.push_back({.x = static_cast<double>(row.length),
                              .y = mean.value,
                              .low = quantity.has_interval ? mean.low : mean.value,
                              .high = quantity.has_interval ? mean.high : mean.value});
    }
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  return plot;
}

size_t EffectCount(const Proof& proof) {
  size_t most = 0;
  for (const ProofRow& row : proof.rows) most = std::max(most, row.effects.size());
  return most;
}

// One row per change and length.
TableRows RatioRows(const Proof& proof) {
  TableRows ratios = {{"what changes", "calls", "laboratory", "laboratory, root", "measured",
                       "seeds sooner, later, neither", "p", "what it shows"}};
  for (size_t e = 0; e < EffectCount(proof); ++e) {
    for (const ProofRow& row : proof.rows) {
      if (e >= row.effects.size()) continue;
      const ProofEffect& effect = row.effects[e];
      const auto predicted = [&](bool root) {
        const std::optional<double> ratio = row.Predicted(effect.without, effect.with, root);
        return ratio ? RatioText(*ratio) : std::string("-");
      };
      const char* shown = !effect.ratio           ? "-"
                          : !ShowsTime(effect)    ? "no effect shown"
                          : effect.ratio->low > 1 ? "fewer"
                                                  : "more";
      ratios.push_back({effect.name, std::to_string(row.length), predicted(false), predicted(true),
                        effect.ratio ? effect.ratio->Text() : "-",
                        effect.race ? fmt::format("{}, {}, {}", effect.race->a_first,
                                                  effect.race->b_first, effect.race->ties)
                                    : "-",
                        effect.race ? fmt::format("{:.2g}", effect.race->p) : "-", shown});
    }
  }
  return ratios;
}

}  // namespace

std::vector<std::string> ProofSentences(const Proof& proof) {
  std::vector<std::string> sentences;
  AddPooledSentences(proof, &sentences);
  AddSentence(proof, "Credit on the calls instead of smeared, real tools", ProofRole::kSmearedReal,
              ProofRole::kAttributedReal, &sentences);
  AddSentence(proof, "Credit on the calls instead of smeared, simulated tools",
              ProofRole::kSmearedSimulated, ProofRole::kAttributedSimulated, &sentences);
  AddSentence(proof, "Simulated instead of real tools, smeared credit", ProofRole::kSmearedReal,
              ProofRole::kSmearedSimulated, &sentences);
  AddSentence(proof, "Simulated instead of real tools, credit on the calls",
              ProofRole::kAttributedReal, ProofRole::kAttributedSimulated, &sentences);
  AddSentence(proof, "Credit on the calls instead of on the answer", ProofRole::kPlacebo,
              ProofRole::kAttributedReal, &sentences);
  AddSentence(proof, "With a fifth of the call labels flipped", ProofRole::kAttributedReal,
              ProofRole::kFlipped, &sentences);
  return sentences;
}

std::vector<ReportTable> ProofTables(const Proof& proof) {
  std::vector<ReportTable> tables;
  if (!proof.pooled.empty()) {
    TableRows pooled = {{"what changes", "success on dev over the run, points", "what it shows",
                         "success on test at the end, points", "what it shows"}};
    for (const PooledEffect& effect : proof.pooled) {
      pooled.push_back({effect.name, Points(effect.on_the_way, 100, 1), Shown(effect.on_the_way),
                        Points(effect.success, 100, 1), Shown(effect.success)});
    }
    if (proof.interaction.mean) {
      pooled.push_back({"what credit on the calls does: simulated minus real tools",
                        Points(proof.interaction, 100, 1), Shown(proof.interaction), "-", "-"});
    }
    tables.push_back(
        {"All lengths together", std::move(pooled),
         "Of every seed the mean over lengths; 95 % intervals over seeds, on test over seeds and "
         "tasks. The first "
         "figure of the first line is the main measure (docs/prove.md says since when); of the "
         "others about one in twenty shows something by chance."});
  }
  tables.push_back(
      {"How many times as many trajectories it takes to the goal without the change",
       RatioRows(proof),
       "Without / with the change: the ratio of the medians over seeds; 95 % of 2000 resamples of "
       "the seeds in pairs, or Student's of the seeds' ratios where that reaches further. \"More "
       "than\", \"less than\": without it, or with it, the goal was not reached when the runs "
       "ended. "
       "Seeds: with the change sooner, later, or neither. The laboratory's are computed, not "
       "measured: by its noise, and by its root, as an optimiser like Adam would have it."});
  tables.push_back(
      {"Trajectories until the goal is reached on dev, median",
       RoleTable(proof, "calls",
                 [](const ProofRow& row, size_t i) { return MedianText(row.reached[i]); }),
       "In brackets: runs that reached it, of all."});
  tables.push_back(
      {"Success on test at the end, sampled, in per cent",
       RoleTable(proof, "calls",
                 [](const ProofRow& row, size_t i) { return Percent(row.success[i]); }),
       "95 % intervals over seeds and tasks."});
  tables.push_back(
      {"Success on test, greedy, in per cent: before practice and at the end",
       RoleTable(proof, "calls",
                 [](const ProofRow& row, size_t i) {
                   const auto short_of = [](const Quantity& quantity) {
                     return quantity.mean ? fmt::format("{:.1f}", 100 * quantity.mean->value)
                                          : std::string("-");
                   };
                   return fmt::format("{} -> {}", short_of(row.before_greedy[i]),
                                      short_of(row.greedy[i]));
                 }),
       "Where it is high before practice, what practice changes is how often another call than the "
       "likeliest is drawn."});
  tables.push_back(
      {"Calls per task of test at the end",
       RoleTable(proof, "calls", [](const ProofRow& row, size_t i) { return Plain(row.calls[i]); }),
       "The plan has as many as the chain is long."});
  tables.push_back(
      {"Success on dev over the run, sampled, in per cent",
       RoleTable(proof, "calls",
                 [](const ProofRow& row, size_t i) { return Percent(row.on_the_way[i]); }),
       "The mean over all trajectories, along straight lines between evaluations: it is there "
       "whether or not the goal was reached. 95 % intervals over seeds."});
  TableRows differences = {{"what changes", "calls", "success on dev over the run, points",
                            "success on test at the end, points", "calls per task"}};
  for (const ProofRow& row : proof.rows) {
    for (const ProofEffect& effect : row.effects) {
      differences.push_back({effect.name, std::to_string(row.length),
                             Points(effect.on_the_way, 100, 1), Points(effect.success, 100, 1),
                             Points(effect.calls, 1, 2)});
    }
  }
  const size_t shown = 3 * (differences.size() - 1);
  tables.push_back({"What each change does", std::move(differences),
                    fmt::format("Paired by seed and, on test, by task; 95 % intervals. Of {} "
                                "differences, where there is "
                                "nothing to find, about one in twenty excludes 0 by chance.",
                                shown)});
  return tables;
}

std::string ProofMarkdown(const Proof& proof) {
  std::string text;
  for (const std::string& sentence : ProofSentences(proof)) text += "- " + sentence + "\n";
  if (!text.empty()) text = "## What was found\n\n" + text + "\n";
  for (const ReportTable& table : ProofTables(proof)) {
    text +=
        fmt::format("### {}\n\n{}\n{}\n\n", table.heading, MarkdownTable(table.rows), table.note);
  }
  return text;
}

std::string ProofHtml(const Proof& proof) {
  std::string html;
  const std::vector<std::string> sentences = ProofSentences(proof);
  if (!sentences.empty()) {
    html += "<h2>What was found</h2>\n<ul>\n";
    for (const std::string& one : sentences) html += fmt::format("<li>{}</li>\n", EscapeHtml(one));
    html += "</ul>\n";
  }
  html += fmt::format(
      "<div class=\"pictures\"><div>{}</div><div>{}</div><div>{}</div><div>{}</div></div>\n",
      ToSvg(RatioPlot(proof)), ToSvg(NoisePlot(proof)),
      ToSvg(QuantityPlot(proof, "Success on test at the end, sampled", "share of tasks",
                         &ProofRow::success)),
      ToSvg(QuantityPlot(proof, "Calls per task of test at the end", "calls", &ProofRow::calls)));
  for (const ReportTable& table : ProofTables(proof)) {
    html += fmt::format("<h3>{}</h3>\n{}<p class=\"dim\">{}</p>\n", EscapeHtml(table.heading),
                        HtmlTable(table.rows), EscapeHtml(table.note));
  }
  return html;
}

std::string PredictionMarkdown(const std::vector<lab::ChainPrediction>& predictions,
                               const lab::PredictionOptions& options) {
  TableRows rows = {{"calls", "teacher's errors", "success at the start", "noise, smeared",
                     "noise, attributed", "noise, placebo", "trajectories, smeared / attributed",
                     "trajectories, placebo / attributed", "by the root"}};
  for (const lab::ChainPrediction& one : predictions) {
    const auto range = [&](size_t method) {
      const std::vector<double>& noise = one.methods[method].noise;
      return noise.empty()
                 ? std::string("-")
                 : fmt::format("{} .. {}", RatioText(noise.front()), RatioText(noise.back()));
    };
    rows.push_back(
        {std::to_string(one.length), fmt::format("{:g}", one.teacher_error),
         fmt::format("{:.0f} %", 100 * one.start), range(0), range(1), range(2),
         RatioText(one.Ratio(0, 1)), RatioText(one.Ratio(2, 1)),
         fmt::format("{}, {}", RatioText(one.RootRatio(0, 1)), RatioText(one.RootRatio(2, 1)))});
  }
  return fmt::format(
      "{}\nNoise: variance of a group's gradient over the squared gain along the gradient of "
      "success, from the first point of the way (who has imitated the teacher) to the last "
      "({:.0f} % of the chains succeed). Groups of {}, exact. By the root: the same two ratios "
      "where trajectories go with the root of the noise, as Adam's do.\n",
      MarkdownTable(rows), 100 * options.goal, options.group);
}

}  // namespace hone
