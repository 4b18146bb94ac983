#include "evaluate/compare/stability.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace hone {
namespace {

// "entropy-eruption 2, truncation 1": in how many runs each alarm went off.
std::string AlarmsText(const std::vector<RunFate>& fates) {
  std::map<std::string, int> counts;
  for (const RunFate& fate : fates) {
    for (const FirstAlarm& alarm : fate.alarms) ++counts[alarm.name];
  }
  std::vector<std::pair<int, std::string>> most;
  for (const auto& [name, count] : counts) most.emplace_back(-count, name);
  std::sort(most.begin(), most.end());
  std::string text;
  for (const auto& [count, name] : most) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, -count);
  }
  return text;
}

std::vector<std::string> RowOf(const FateGroup& group, const std::vector<RunFate>& fates,
                               double goal) {
  const auto count = [&](const auto& holds) {
    return std::count_if(fates.begin(), fates.end(), holds);
  };
  double ends = 0;
  for (const RunFate& fate : fates) ends += fate.end / static_cast<double>(fates.size());
  const auto collapsed = count([](const RunFate& fate) { return fate.fell_at.has_value(); });
  const auto warned = count([](const RunFate& fate) { return fate.fell_at && fate.warned; });
  return {group.label,
          group.setting,
          fmt::format("{}", fates.size()),
          fmt::format("{}", count([&](const RunFate& fate) { return fate.best >= goal; })),
          fmt::format("{}", count([&](const RunFate& fate) { return fate.end >= goal; })),
          fmt::format("{:.1f}", 100 * ends),
          fmt::format("{}", collapsed),
          collapsed == 0 ? "" : fmt::format("{}", warned),
          AlarmsText(fates)};
}

}  // namespace

std::optional<RunFate> FateOf(const ComparedRun& run) {
  if (run.status != ComparedRun::Status::kFinished || run.dev.empty()) return std::nullopt;
  RunFate fate;
  for (const DevPoint& point : run.dev) fate.best = std::max(fate.best, point.sampled);
  fate.end = run.dev.back().sampled;
  const auto low = [&](const DevPoint& point) {
    return point.sampled < kCollapsedShare * fate.best;
  };
  if (fate.best >= kWorthLosing && low(run.dev.back())) {
    const auto last_high = std::find_if_not(run.dev.rbegin(), run.dev.rend(), low);
    fate.fell_at = last_high.base()->trajectories;
  }
  fate.alarms = run.alarms;
  fate.warned = fate.fell_at &&
                std::any_of(run.alarms.begin(), run.alarms.end(), [&](const FirstAlarm& alarm) {
                  return alarm.trajectories < *fate.fell_at;
                });
  return fate;
}

ReportTable StabilityTable(const std::vector<FateGroup>& groups, double goal) {
  ReportTable table{.heading = "Stability: who survives which setting"};
  for (const FateGroup& group : groups) {
    std::vector<RunFate> fates;
    for (const ComparedRun* run : group.runs) {
      if (const std::optional<RunFate> fate = FateOf(*run)) fates.push_back(*fate);
    }
    if (fates.empty()) continue;
    if (table.rows.empty()) {
      table.rows.push_back({"arm", "setting", "runs", "reach the goal", "end at it",
                            "dev at the end, %", "collapse", "of these warned of before",
                            "alarms, and in how many runs"});
    }
    table.rows.push_back(RowOf(group, fates, goal));
  }
  table.note = fmt::format(
      "The goal is {:.0f} % of dev, sampled. A run collapses if it ends below half of its best, "
      "which was at least {:.0f} %. Runs of all seeds are counted, those that rates were chosen by "
      "included. It was warned of if an alarm went off at any time before dev was measured low; "
      "alarms that are mere notices are left out.",
      100 * goal, 100 * kWorthLosing);
  return table;
}

}  // namespace hone
