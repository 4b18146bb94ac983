#include "evaluate/compare/comparison.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "evaluate/compare/quantity_readers.h"

namespace hone {
namespace {

std::optional<double> MeanOf(const Cells& cells) {
  double sum = 0;
  int64_t known = 0;
  for (const std::optional<double>& cell : cells) {
    if (cell) sum += *cell;
    known += cell ? 1 : 0;
  }
  if (known == 0) return std::nullopt;
  return sum / static_cast<double>(known);
}

// Tables need every cell: tasks of which some run knows nothing are left out of all; where none is
// left, or runs disagree about what a cell is, each run is one value.
Table TableOf(const std::vector<Cells>& rows) {
  Table table(rows.size());
  size_t columns = rows[0].size();
  bool alike = true;
  for (const Cells& row : rows) {
    alike = alike && (row.size() == 1) == (rows[0].size() == 1);
    columns = std::min(columns, row.size());  // the same split's first tasks
  }
  for (size_t column = 0; alike && column < columns; ++column) {
    const bool known = std::all_of(rows.begin(), rows.end(),
                                   [&](const Cells& row) { return row[column].has_value(); });
    for (size_t row = 0; known && row < rows.size(); ++row) {
      table[row].push_back(*rows[row][column]);
    }
  }
  if (!table[0].empty()) return table;
  for (size_t row = 0; row < rows.size(); ++row) table[row] = {MeanOf(rows[row]).value_or(0)};
  return table;
}

// Whether an interval says anything. Of one seed it is about tasks; of two it would be so wide that
// their two values say more. Seeds that share their start count as one.
bool SaysMore(const Table& table, const Clusters& clusters) {
  const size_t count = ClusterCount(clusters, table.size());
  return count > 2 || (count == 1 && table[0].size() > 1);
}

Clusters ClustersIn(const ComparedSection& section,
                    const std::vector<std::vector<std::string>>& starts) {
  return section.given_start ? Clusters() : ClustersByStart(starts);
}

Rng RngOf(std::string_view name) { return Rng(0).Split("comparison").Split(name); }

Quantity QuantityOf(const ComparedSection& section, const ComparedArm& arm,
                    const QuantityReader& reader, const BootstrapOptions& options) {
  Quantity quantity;
  std::vector<Cells> rows;
  std::vector<std::vector<std::string>> starts;
  for (const uint64_t seed : section.seeds) {
    const ComparedRun* run = arm.OfSeed(seed);
    Cells cells = run == nullptr ? Cells{} : reader.read(*run);
    const std::optional<double> mean = MeanOf(cells);
    quantity.by_seed.push_back(mean);
    if (!mean) continue;
    quantity.lowest = std::min(quantity.lowest.value_or(*mean), *mean);
    rows.push_back(std::move(cells));
    starts.push_back({run->start});
  }
  if (rows.empty()) return quantity;
  const Table table = TableOf(rows);
  const Clusters clusters = ClustersIn(section, starts);
  quantity.mean = BootstrapMean(table, RngOf(reader.kind.name), options, clusters);
  // Nothing that is measured can be less than nothing, and no share more than all; but what was
  // forgotten can be less where something was gained.
  if (!reader.kind.name.starts_with("forgotten/")) {
    quantity.mean->low = std::max(quantity.mean->low, 0.0);
  }
  if (reader.kind.unit == QuantityKind::Unit::kShare) {
    quantity.mean->high = std::min(quantity.mean->high, 1.0);
  }
  quantity.has_interval = SaysMore(table, clusters);
  return quantity;
}

// One of two that are compared: whose runs, and what is read of them.
struct Side {
  const ComparedArm& arm;
  const std::function<Cells(const ComparedRun&)>& read;
};

// a - b; `name` is for the draws.
Difference DifferenceOf(const ComparedSection& section, const Side& first, const Side& other_side,
                        std::string_view name, const BootstrapOptions& options) {
  Difference difference;
  std::vector<Cells> rows;  // first the arm's, then the other's, of the same seeds
  std::vector<Cells> baseline;
  std::vector<std::vector<std::string>> starts;
  for (const uint64_t seed : section.seeds) {
    const ComparedRun* a = first.arm.OfSeed(seed);
    const ComparedRun* b = other_side.arm.OfSeed(seed);
    difference.by_seed.emplace_back();
    if (a == nullptr || b == nullptr) continue;
    Cells ours = first.read(*a), theirs = other_side.read(*b);
    const std::optional<double> mean = MeanOf(ours), other = MeanOf(theirs);
    if (!mean || !other) continue;
    difference.by_seed.back() = *mean - *other;
    difference.more += *mean > *other ? 1 : 0;
    difference.less += *mean < *other ? 1 : 0;
    difference.equal += *mean == *other ? 1 : 0;
    rows.push_back(std::move(ours));
    baseline.push_back(std::move(theirs));
    starts.push_back({a->start, b->start});
  }
  if (rows.empty()) return difference;
  const size_t pairs = rows.size();
  rows.insert(rows.end(), baseline.begin(), baseline.end());
  Table table = TableOf(rows);
  const Table second(table.begin() + static_cast<std::ptrdiff_t>(pairs), table.end());
  table.resize(pairs);
  difference.cells = Minus(std::move(table), second);
  difference.clusters = ClustersIn(section, starts);
  difference.mean = BootstrapMean(difference.cells, RngOf(name), options, difference.clusters);
  difference.has_interval = SaysMore(difference.cells, difference.clusters);
  return difference;
}

std::vector<GoalTimes> GoalsOf(const ComparedSection& section) {
  std::vector<GoalTimes> goals(section.arms.size());
  for (size_t i = 0; i < goals.size(); ++i) {
    std::vector<Reached> known;
    for (const uint64_t seed : section.seeds) {
      const ComparedRun* run = section.arms[i].OfSeed(seed);
      goals[i].by_seed.push_back(run == nullptr ? std::nullopt : ReachedOn(*run, section.goal));
      if (goals[i].by_seed.back()) known.push_back(*goals[i].by_seed.back());
    }
    if (!known.empty()) goals[i].median = MedianOf(known);
  }
  const GoalTimes& baseline = goals[section.baseline];
  for (size_t i = 0; i < goals.size(); ++i) {
    if (i == section.baseline) continue;
    std::vector<Reached> a, b;
    std::vector<std::vector<std::string>> starts;
    for (size_t s = 0; s < section.seeds.size(); ++s) {
      if (!goals[i].by_seed[s] || !baseline.by_seed[s]) continue;
      a.push_back(*goals[i].by_seed[s]);
      b.push_back(*baseline.by_seed[s]);
      starts.push_back({section.arms[i].OfSeed(section.seeds[s])->start,
                        section.arms[section.baseline].OfSeed(section.seeds[s])->start});
    }
    if (!a.empty()) goals[i].race = Race(a, b);
    if (!a.empty()) goals[i].log_rank = LogRankTest(a, b, ClustersIn(section, starts));
    const std::optional<MedianReached>&median = goals[i].median, &other = baseline.median;
    if (median && other && !median->later && !other->later && other->value > 0) {
      goals[i].ratio = median->value / other->value;
    }
  }
  return goals;
}

// What rl began with, or would begin with; empty: unknown.
const std::string& BeginsWith(const ComparedRun& run) {
  const bool without_rl =
      run.start.empty() && run.trajectories == 0 && run.status == ComparedRun::Status::kFinished;
  return without_rl ? run.weights : run.start;
}

// What must be known of an arm whose seeds do not all begin with a policy of their own.
std::string SharedStarts(const ComparedSection& section, const ComparedArm& arm) {
  std::vector<std::vector<std::string>> starts;
  for (const ComparedRun* run : arm.runs) starts.push_back({run->start});
  const Clusters clusters = ClustersByStart(starts);
  if (clusters.empty()) return "";
  const size_t count = ClusterCount(clusters, starts.size());
  const std::string what = fmt::format("{}: its {} runs begin with {} polic{}", arm.label,
                                       starts.size(), count, count == 1 ? "y" : "ies");
  return what + (section.given_start ? ", which is given: what is found holds for it"
                                     : "; runs that share one count as one in intervals");
}

// What was measured without rl, and what each arm has beyond it.
void AddControls(const ComparedSection& section, const BootstrapOptions& options,
                 SectionReport* report) {
  report->over_controls.resize(section.arms.size());
  for (const ComparedControl& control : section.controls) {
    const ComparedArm measured{control.name, control.label, control.runs};
    // Draws are those of the column with the same numbers, so that the intervals are, too.
    const bool before = control.evaluation.starts_with("before");
    const std::string name =
        fmt::format("{}/{}", before ? "start" : "test", control.greedy ? "greedy" : "sampled");
    const QuantityReader reader{
        {name, control.label, QuantityKind::Unit::kShare, true},
        [&](const ComparedRun& run) { return Outcomes(run, control.evaluation); }};
    report->controls.push_back(QuantityOf(section, measured, reader, options));
    const std::function<Cells(const ComparedRun&)> ours = [&](const ComparedRun& run) {
      return Outcomes(run, control.greedy ? "after/test/greedy" : "after/test/sampled");
    };
    for (size_t i = 0; i < section.arms.size(); ++i) {
      report->over_controls[i].push_back(DifferenceOf(
          section, {section.arms[i], ours}, {measured, reader.read}, control.name, options));
    }
  }
}

std::optional<double> MeanGoldCalls(const ComparedSection& section) {
  for (const ComparedArm& arm : section.arms) {
    for (const ComparedRun* run : arm.runs) {
      const Cells gold = OfAll(*run, "after/test/sampled", "gold_calls");
      if (!gold.empty()) return gold[0];
    }
  }
  return std::nullopt;
}

}  // namespace

const ComparedRun* ComparedArm::OfSeed(uint64_t seed) const {
  for (const ComparedRun* run : runs) {
    if (run->seed == seed) return run;
  }
  return nullptr;
}

std::string_view StatusName(ComparedRun::Status status) {
  switch (status) {
    case ComparedRun::Status::kFinished: return "finished";
    case ComparedRun::Status::kUnfinished: return "unfinished";
    case ComparedRun::Status::kFailed: return "failed";
    case ComparedRun::Status::kMissing: return "not begun";
  }
  return "";
}

bool IsOfEnvironment(std::string_view quantity) {
  return quantity.starts_with("environment/") || quantity.starts_with("forgotten/");
}

std::vector<std::string> PairedQuantities() {
  std::vector<std::string> names;
  for (const QuantityReader& reader : ReadersOf({})) {
    if (reader.kind.paired) names.push_back(reader.kind.name);
  }
  return names;
}

std::optional<double> DevOverRun(const ComparedRun& run) { return MeanOf(MeanOfDev(run)); }

Clusters ClustersByStart(std::span<const std::vector<std::string>> starts_by_row) {
  Clusters clusters(starts_by_row.size());
  for (size_t row = 0; row < clusters.size(); ++row) clusters[row] = row;
  std::map<std::string, size_t> first;  // row with this start
  bool shared = false;
  for (size_t row = 0; row < clusters.size(); ++row) {
    for (const std::string& start : starts_by_row[row]) {
      if (start.empty()) continue;
      const size_t with = first.emplace(start, row).first->second;
      const size_t from = clusters[row], to = clusters[with];
      if (from == to) continue;
      shared = true;
      std::replace(clusters.begin(), clusters.end(), std::max(from, to), std::min(from, to));
    }
  }
  if (!shared) return {};
  std::map<size_t, size_t> numbers;
  for (size_t& cluster : clusters) cluster = numbers.emplace(cluster, numbers.size()).first->second;
  return clusters;
}

double EffortOf(const DevPoint& point, Effort effort) {
  return effort == Effort::kDollars ? point.dollars
         : effort == Effort::kHours ? point.hours
                                    : point.trajectories;
}

std::optional<Reached> ReachedOn(const ComparedRun& run, double goal, Effort effort) {
  if (run.dev.empty()) return std::nullopt;
  Reached reached{.watched = EffortOf(run.dev.back(), effort)};
  const Cells start = OfAll(run, "before/test/sampled", "success");
  // The last look below the goal; none where not even the start is known, or it was above.
  std::optional<DevPoint> below =
      DevPoint{.dollars = run.recorded_dollars, .hours = run.recorded_hours};
  below->sampled = start.empty() ? goal : *start[0];
  if (below->sampled >= goal) below.reset();
  for (const DevPoint& point : run.dev) {
    if (point.sampled < goal) {
      below = point;
      continue;
    }
    reached.at = EffortOf(point, effort);
    if (below) {
      const double share = (goal - below->sampled) / (point.sampled - below->sampled);
      const double from = EffortOf(*below, effort);
      reached.at = from + share * (EffortOf(point, effort) - from);
    }
    break;
  }
  return reached;
}

std::vector<std::string> CheckStarts(std::span<const ComparedRun> runs) {
  std::vector<std::string> problems;
  std::map<std::string, const ComparedRun*> first;
  for (const ComparedRun& run : runs) {
    if (BeginsWith(run).empty()) continue;
    const auto [found, fresh] = first.emplace(run.start_key, &run);
    if (fresh || BeginsWith(*found->second) == BeginsWith(run)) continue;
    problems.push_back(fmt::format(
        "{} and {} of seed {} should have begun rl with the same weights and did not ({:.12} and "
        "{:.12}); their difference is not one of the methods alone",
        found->second->arm, run.arm, run.seed, BeginsWith(*found->second), BeginsWith(run)));
  }
  return problems;
}

SectionReport ReportSection(const ComparedSection& section, const BootstrapOptions& options) {
  SectionReport report;
  const std::vector<QuantityReader> readers = ReadersOf(section);
  for (const QuantityReader& reader : readers) report.kinds.push_back(reader.kind);
  for (size_t i = 0; i < section.arms.size(); ++i) {
    const ComparedArm& arm = section.arms[i];
    report.quantities.emplace_back();
    report.differences.emplace_back();
    for (const QuantityReader& reader : readers) {
      report.quantities.back().push_back(QuantityOf(section, arm, reader, options));
      if (i == section.baseline) continue;
      const ComparedArm& baseline = section.arms[section.baseline];
      report.differences.back().push_back(
          reader.kind.paired ? DifferenceOf(section, {arm, reader.read}, {baseline, reader.read},
                                            reader.kind.name, options)
                             : Difference{});
    }
    std::string missing;
    for (const uint64_t seed : section.seeds) {
      if (arm.OfSeed(seed) == nullptr) missing += fmt::format(" {}", seed);
    }
    if (!missing.empty()) {
      report.warnings.push_back(fmt::format("{}: not finished (seed{})", arm.label, missing));
    }
    if (std::string shared = SharedStarts(section, arm); !shared.empty()) {
      report.warnings.push_back(std::move(shared));
    }
  }
  report.goals = GoalsOf(section);
  AddControls(section, options, &report);
  report.gold_calls = MeanGoldCalls(section);
  return report;
}

}  // namespace hone
