#include "train/compare/tuning.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"

namespace hone {
namespace {

std::string NameOf(const ComparisonArm& arm, const std::vector<std::string>& changes) {
  return SettingFolder(arm.name + ".tune-", changes);
}

// Of all sections that the arm is in.
std::set<uint64_t> TuningSeedsOf(const ComparisonFile& comparison, size_t arm) {
  std::set<uint64_t> seeds;
  for (const ComparisonSection& section : comparison.sections) {
    if (std::find(section.arms.begin(), section.arms.end(), arm) == section.arms.end()) continue;
    seeds.insert(section.tuning_seeds.begin(), section.tuning_seeds.end());
  }
  return seeds;
}

TriedSetting Tried(const ComparisonFile& comparison, size_t arm,
                   const std::vector<std::string>& changes,
                   const std::map<std::pair<std::string, uint64_t>, const ComparedRun*>& runs) {
  TriedSetting setting{.changes = changes};
  const std::string name = NameOf(comparison.arms[arm], changes);
  double sum = 0;
  bool all = true;
  for (const uint64_t seed : TuningSeedsOf(comparison, arm)) {
    TriedRun& run = setting.runs.emplace_back();
    run.seed = seed;
    if (const auto found = runs.find({name, seed}); found != runs.end()) {
      run.status = found->second->status;
      run.why = found->second->why;
      run.dev = DevMeasure(comparison.choose, *found->second);
    }
    all = all && run.dev;
    sum += run.dev.value_or(0);
  }
  if (all && !setting.runs.empty()) setting.mean = sum / static_cast<double>(setting.runs.size());
  return setting;
}

void Choose(TunedArm* arm) {
  int64_t missing = 0, all = 0;
  for (size_t i = 0; i < arm->tried.size(); ++i) {
    const TriedSetting& setting = arm->tried[i];
    for (const TriedRun& run : setting.runs) {
      ++all;
      missing += run.status == ComparedRun::Status::kMissing ||
                 run.status == ComparedRun::Status::kUnfinished;
    }
    const bool best =
        setting.mean && (!arm->chosen || *setting.mean > *arm->tried[*arm->chosen].mean);
    if (best) arm->chosen = i;
  }
  if (missing > 0) {
    arm->chosen.reset();
    arm->why = fmt::format("{} of {} tuning runs are missing", missing, all);
  } else if (!arm->chosen) {
    arm->why =
        "every setting has a run that failed or did not measure dev (evaluation.every, "
        "evaluation.dev_tasks)";
  }
}

std::string Percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", 100 * *value) : "-";
}

// The setting of the arm of this name, and of those that are like it. What one of these says itself
// holds: an arm that is paid for the outcome alone does not take over another's credit.
void Settle(const std::string& name, const std::vector<std::string>& changes,
            ComparisonFile* comparison) {
  for (ComparisonArm& arm : comparison->arms) {
    if (arm.name != name && arm.like != name) continue;
    const auto place = arm.name == name ? arm.changes.end() : arm.changes.begin();
    arm.changes.insert(place, changes.begin(), changes.end());
    arm.grid.clear();
    arm.like.clear();
  }
}

}  // namespace

std::string SettingFolder(const std::string& prefix, const std::vector<std::string>& changes) {
  constexpr size_t kLongest = 120;
  std::string name = fmt::format("{}{}", prefix, fmt::join(changes, "-"));
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  if (name.size() <= kLongest) return name;
  return fmt::format("{}{:.16}", prefix, Sha256Hex(name));
}

std::optional<double> DevMeasure(const std::string& choose, const ComparedRun& run) {
  if (run.status != ComparedRun::Status::kFinished || run.dev.empty()) return std::nullopt;
  if (choose == "dev/end") return run.dev.back().sampled;
  return DevOverRun(run);
}

std::string TriedSetting::Text() const { return fmt::format("{}", fmt::join(changes, ", ")); }

ComparisonFile TuningOf(const ComparisonFile& comparison) {
  ComparisonFile tuning{.title = comparison.title};
  for (size_t place = 0; place < comparison.arms.size(); ++place) {
    const ComparisonArm& arm = comparison.arms[place];
    if (arm.grid.empty()) continue;
    const std::set<uint64_t> seeds = TuningSeedsOf(comparison, place);
    ComparisonSection section{.title = arm.name, .seeds = {seeds.begin(), seeds.end()}};
    for (const std::vector<std::string>& changes : arm.grid) {
      ComparisonArm tried{.name = NameOf(arm, changes),
                          .label = fmt::format("{}: {}", arm.label, fmt::join(changes, ", ")),
                          .recipe = arm.recipe,
                          .changes = arm.changes};
      tried.changes.insert(tried.changes.end(), changes.begin(), changes.end());
      tried.changes.push_back("evaluation.test_tasks=0");
      tried.changes.push_back("evaluation.more=[]");
      section.arms.push_back(tuning.arms.size());
      tuning.arms.push_back(std::move(tried));
    }
    tuning.sections.push_back(std::move(section));
  }
  return tuning;
}

std::vector<TunedArm> ChooseSettings(const ComparisonFile& comparison,
                                     const std::vector<ComparedRun>& tuning) {
  std::map<std::pair<std::string, uint64_t>, const ComparedRun*> runs;
  for (const ComparedRun& run : tuning) runs[{run.arm, run.seed}] = &run;
  std::vector<TunedArm> tuned;
  for (size_t arm = 0; arm < comparison.arms.size(); ++arm) {
    if (comparison.arms[arm].grid.empty()) continue;
    TunedArm& one = tuned.emplace_back();
    one.arm = arm;
    for (const std::vector<std::string>& changes : comparison.arms[arm].grid) {
      one.tried.push_back(Tried(comparison, arm, changes, runs));
    }
    Choose(&one);
  }
  return tuned;
}

ComparisonFile WithFirstSettings(ComparisonFile comparison) {
  std::vector<std::pair<std::string, std::vector<std::string>>> first;
  for (const ComparisonArm& arm : comparison.arms) {
    if (!arm.grid.empty()) first.emplace_back(arm.name, arm.grid[0]);
  }
  for (const auto& [name, changes] : first) Settle(name, changes, &comparison);
  return comparison;
}

ComparisonFile WithChosen(ComparisonFile comparison, const std::vector<TunedArm>& tuned) {
  for (const TunedArm& one : tuned) {
    if (!one.chosen) continue;
    const std::string name = comparison.arms[one.arm].name;
    Settle(name, one.tried[*one.chosen].changes, &comparison);
  }
  return comparison;
}

ReportTable TuningTable(const ComparisonFile& comparison, const std::vector<TunedArm>& tuned) {
  ReportTable table{.heading = "Tuning runs, thrown away"};
  if (tuned.empty()) return table;
  const bool end = comparison.choose == "dev/end";
  table.rows = {{"arm", "setting", "seed", "status",
                 end ? "dev at the end, sampled, %" : "dev over the run, sampled, %",
                 "mean of the setting, %", "chosen"}};
  for (const TunedArm& one : tuned) {
    for (size_t i = 0; i < one.tried.size(); ++i) {
      const TriedSetting& setting = one.tried[i];
      for (const TriedRun& run : setting.runs) {
        std::string status(StatusName(run.status));
        if (!run.why.empty()) status += ": " + run.why;
        table.rows.push_back({comparison.arms[one.arm].label, setting.Text(),
                              fmt::format("{}", run.seed), status, Percent(run.dev),
                              Percent(setting.mean), one.chosen == i ? "yes" : "no"});
      }
    }
  }
  table.note =
      "Settings are chosen by dev alone, on seeds that enter no figure; test is not measured "
      "there. "
      "Of equal ones the first is taken.";
  return table;
}

std::vector<FateGroup> RunsBySetting(const ComparisonFile& comparison,
                                     const std::vector<TunedArm>& tuned,
                                     const std::vector<ComparedRun>& tuning,
                                     const std::vector<ComparedRun>& records) {
  std::vector<FateGroup> groups;
  for (const TunedArm& one : tuned) {
    const ComparisonArm& arm = comparison.arms[one.arm];
    for (size_t i = 0; i < one.tried.size(); ++i) {
      FateGroup& group = groups.emplace_back(FateGroup{arm.label, one.tried[i].Text(), {}});
      const std::string name = NameOf(arm, one.tried[i].changes);
      for (const ComparedRun& run : tuning) {
        if (run.arm == name) group.runs.push_back(&run);
      }
      for (const ComparedRun& run : records) {
        if (one.chosen == i && run.arm == arm.name) group.runs.push_back(&run);
      }
    }
  }
  return groups;
}

std::vector<std::string> TuningNotes(const ComparisonFile& comparison,
                                     const ComparisonSection& section,
                                     const std::vector<TunedArm>& tuned) {
  std::vector<std::string> notes, counts;
  std::set<size_t> different;
  bool any = false;
  for (const size_t place : section.arms) {
    const ComparisonArm& arm = comparison.arms[place];
    const auto found = std::find_if(tuned.begin(), tuned.end(),
                                    [&](const TunedArm& one) { return one.arm == place; });
    const size_t tried = found == tuned.end() ? 1 : found->tried.size();
    any |= found != tuned.end();
    different.insert(tried);
    counts.push_back(fmt::format("{} {}", arm.label, tried));
    if (found != tuned.end() && !found->chosen) {
      notes.push_back(fmt::format("{}: no setting is chosen: {}", arm.label, found->why));
    }
  }
  if (any && different.size() > 1) {
    notes.push_back(
        fmt::format("arms were not tuned alike; settings tried: {}", fmt::join(counts, ", ")));
  }
  return notes;
}

Json TuningJson(const ComparisonFile& comparison, const std::vector<TunedArm>& tuned) {
  Json::Array arms;
  for (const TunedArm& one : tuned) {
    Json::Array settings;
    for (size_t i = 0; i < one.tried.size(); ++i) {
      Json::Array runs;
      for (const TriedRun& run : one.tried[i].runs) {
        runs.push_back(Json::Of({{"seed", run.seed},
                                 {"status", StatusName(run.status)},
                                 {"why", run.why},
                                 {"dev", run.dev ? Json(*run.dev) : Json()}}));
      }
      const std::optional<double>& mean = one.tried[i].mean;
      settings.push_back(Json::Of({{"changes", Json::ArrayOf(one.tried[i].changes)},
                                   {"mean", mean ? Json(*mean) : Json()},
                                   {"chosen", one.chosen == i},
                                   {"runs", std::move(runs)}}));
    }
    arms.push_back(Json::Of({{"arm", comparison.arms[one.arm].name},
                             {"choose", comparison.choose},
                             {"why", one.why},
                             {"settings", std::move(settings)}}));
  }
  return arms;
}

}  // namespace hone
