#include "train/compare/sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rng.h"
#include "base/strings.h"
#include "evaluate/figure_text.h"
#include "train/compare/tuning.h"

namespace hone {
namespace {

constexpr size_t kMostSettings = 10000;

Error BadTry(std::string_view text, std::string_view why) {
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("--try {}: {}; it is KEY=A,B,C or KEY=LOW..HIGH or KEY=LOW..HIGH:log",
                           text, why));
}

// Taken apart at commas that are in no brackets and no quotes.
std::vector<std::string> SplitValues(std::string_view text) {
  std::vector<std::string> values;
  std::string value;
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      values.emplace_back(Trim(value));
      value.clear();
      continue;
    }
    value += c;
  }
  values.emplace_back(Trim(value));
  return values;
}

std::optional<double> NumberIn(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Result<SweptKey> ParseRange(std::string_view text, SweptKey swept, std::string_view range) {
  constexpr std::string_view kLog = ":log";
  if (range.ends_with(kLog)) {
    swept.logarithmic = true;
    range.remove_suffix(kLog.size());
  }
  const size_t dots = range.find("..");
  const std::string_view low_text = Trim(range.substr(0, dots)),
                         high_text = Trim(range.substr(dots + 2));
  const std::optional<double> low = NumberIn(low_text), high = NumberIn(high_text);
  if (!low || !high) return BadTry(text, "the ends of a range are numbers");
  if (*low >= *high) return BadTry(text, "a range goes from the smaller number to the larger one");
  if (swept.logarithmic && *low <= 0) return BadTry(text, "a range with :log is above 0");
  swept.low = *low;
  swept.high = *high;
  swept.whole = std::string(low_text).append(high_text).find_first_of(".eE") == std::string::npos;
  return swept;
}

std::string Drawn(const SweptKey& swept, Rng rng) {
  if (!swept.values.empty()) return swept.values[rng.Below(swept.values.size())];
  if (swept.whole && !swept.logarithmic) {
    const auto low = static_cast<int64_t>(swept.low), high = static_cast<int64_t>(swept.high);
    return fmt::format(
        "{}", low + static_cast<int64_t>(rng.Below(static_cast<uint64_t>(high - low) + 1)));
  }
  const double at = rng.NextDouble();
  const double value =
      swept.logarithmic
          ? std::exp(std::log(swept.low) + at * (std::log(swept.high) - std::log(swept.low)))
          : swept.low + at * (swept.high - swept.low);
  if (swept.whole) return fmt::format("{}", std::llround(value));
  // Four digits: a name that one can read, and nobody knows such a setting more exactly.
  return fmt::format("{:.4g}", value);
}

using Setting = std::vector<std::string>;  // one value for each key

Result<std::vector<Setting>> Grid(const std::vector<SweptKey>& keys) {
  std::vector<Setting> settings = {{}};
  for (const SweptKey& swept : keys) {
    if (swept.values.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{} is a range, from which settings are drawn: say how many with "
                               "--random N",
                               swept.key));
    }
    std::vector<Setting> longer;
    for (const Setting& setting : settings) {
      for (const std::string& value : swept.values) {
        longer.push_back(setting);
        longer.back().push_back(value);
      }
    }
    settings = std::move(longer);
    if (settings.size() > kMostSettings) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the grid has more than {} settings; draw some with --random N",
                               kMostSettings));
    }
  }
  return settings;
}

// Different ones, as long as there are such.
std::vector<Setting> DrawSettings(const SweepRequest& request) {
  constexpr int kAttempts = 50;
  const Rng rng = Rng(request.draw_seed).Split("sweep");
  std::vector<Setting> settings;
  std::set<Setting> known;
  for (int64_t i = 0; i < request.random; ++i) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      Setting setting;
      for (size_t key = 0; key < request.keys.size(); ++key) {
        setting.push_back(Drawn(
            request.keys[key],
            rng.Split(static_cast<uint64_t>(i)).Split(static_cast<uint64_t>(attempt)).Split(key)));
      }
      if (!known.insert(setting).second) continue;
      settings.push_back(std::move(setting));
      break;
    }
  }
  return settings;
}

// What a key is called in names of folders and heads of tables: its last word, unless two keys end
// alike.
std::string ShortKey(const std::vector<SweptKey>& keys, size_t place) {
  const auto last = [](const std::string& key) { return key.substr(key.rfind('.') + 1); };
  const std::string name = last(keys[place].key);
  const auto same = std::count_if(keys.begin(), keys.end(),
                                  [&](const SweptKey& other) { return last(other.key) == name; });
  return same > 1 ? keys[place].key : name;
}

}  // namespace

Result<SweptKey> ParseSweptKey(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return BadTry(text, "there is no KEY=");
  SweptKey swept{.key = std::string(Trim(text.substr(0, equals)))};
  const std::string_view values = Trim(text.substr(equals + 1));
  const bool quoted =
      values.starts_with('"') || values.starts_with('\'') || values.starts_with('[');
  if (!quoted && values.find("..") != std::string_view::npos &&
      values.find(',') == std::string_view::npos) {
    return ParseRange(text, std::move(swept), values);
  }
  swept.values = SplitValues(values);
  for (size_t i = 0; i < swept.values.size(); ++i) {
    const std::string& value = swept.values[i];
    if (value.empty()) return BadTry(text, "a value is missing");
    if (std::find(swept.values.begin(), swept.values.begin() + static_cast<std::ptrdiff_t>(i),
                  value) != swept.values.begin() + static_cast<std::ptrdiff_t>(i)) {
      return BadTry(text, fmt::format("{} is there twice", value));
    }
  }
  return swept;
}

Result<ComparisonFile> MakeSweep(const SweepRequest& request) {
  if (request.keys.empty()) {
    return Error(ErrorCode::kInvalidArgument, "nothing is swept; say --try KEY=A,B,C");
  }
  std::vector<Setting> settings;
  if (request.random > 0) {
    settings = DrawSettings(request);
  } else {
    HONE_ASSIGN_OR_RETURN(settings, Grid(request.keys));
  }
  if (request.most_runs > 0) {
    const auto allowed = static_cast<size_t>(request.most_runs / request.seeds);
    if (allowed == 0) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("a budget of {} runs does not allow one setting with {} seeds",
                               request.most_runs, request.seeds));
    }
    if (settings.size() > allowed) {
      std::vector<size_t> kept = Shuffled(settings.size(), Rng(request.draw_seed).Split("budget"));
      kept.resize(allowed);
      std::sort(kept.begin(), kept.end());
      std::vector<Setting> fewer;
      for (const size_t place : kept) fewer.push_back(std::move(settings[place]));
      settings = std::move(fewer);
    }
  }
  ComparisonFile sweep{.title = "Sweep", .choose = request.choose};
  ComparisonSection section{.title = "Settings"};
  for (int64_t i = 0; i < request.seeds; ++i) {
    section.seeds.push_back(static_cast<uint64_t>(request.seed_from + i));
  }
  for (const Setting& setting : settings) {
    ComparisonArm arm{.recipe = request.recipe, .changes = request.set};
    std::vector<std::string> parts;
    for (size_t key = 0; key < setting.size(); ++key) {
      arm.changes.push_back(request.keys[key].key + "=" + setting[key]);
      parts.push_back(ShortKey(request.keys, key) + "=" + setting[key]);
    }
    arm.name = SettingFolder("", parts);
    arm.label = fmt::format("{}", fmt::join(parts, ", "));
    section.arms.push_back(sweep.arms.size());
    sweep.arms.push_back(std::move(arm));
  }
  sweep.sections.push_back(std::move(section));
  return sweep;
}

std::vector<RankedSetting> RankSettings(const ComparisonFile& sweep,
                                        const std::vector<ComparedRun>& runs) {
  std::vector<RankedSetting> ranked;
  for (size_t arm = 0; arm < sweep.arms.size(); ++arm) {
    RankedSetting setting{.arm = arm,
                          .runs = static_cast<int64_t>(sweep.sections.at(0).seeds.size())};
    double sum = 0, test = 0;
    int64_t measured = 0, tested = 0;
    for (const ComparedRun& run : runs) {
      if (run.arm != sweep.arms[arm].name) continue;
      if (run.status == ComparedRun::Status::kFinished) ++setting.finished;
      if (const auto after = FigureIn(run.evaluations.Find("after/test/sampled"), "success")) {
        test += after->value;
        ++tested;
      }
      const std::optional<double> dev = DevMeasure(sweep.choose, run);
      if (!dev) continue;
      sum += *dev;
      ++measured;
      setting.least = std::min(setting.least.value_or(*dev), *dev);
      setting.most = std::max(setting.most.value_or(*dev), *dev);
    }
    // One whose other seeds are missing or failed may look better than it is.
    if (measured == setting.runs) setting.mean = sum / static_cast<double>(measured);
    if (tested > 0) setting.test = test / static_cast<double>(tested);
    ranked.push_back(setting);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const RankedSetting& a, const RankedSetting& b) {
                     return a.mean.value_or(-1) > b.mean.value_or(-1);
                   });
  return ranked;
}

ReportTable RankTable(const SweepRequest& request, const ComparisonFile& sweep,
                      const std::vector<RankedSetting>& ranked) {
  const auto share = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1f}", 100 * *value) : "-";
  };
  ReportTable table{.heading = "Settings, the best on dev first"};
  std::vector<std::string> head = {"rank"};
  for (size_t i = 0; i < request.keys.size(); ++i) head.push_back(ShortKey(request.keys, i));
  const bool end = sweep.choose == "dev/end";
  for (const char* title : {end ? "dev at the end, %" : "dev over the run, %", "least to most",
                            "test at the end, %", "runs finished"}) {
    head.emplace_back(title);
  }
  table.rows.push_back(std::move(head));
  size_t rank = 0;
  for (size_t i = 0; i < ranked.size(); ++i) {
    const RankedSetting& one = ranked[i];
    const std::vector<std::string>& changes = sweep.arms[one.arm].changes;
    if (i == 0 || one.mean != ranked[i - 1].mean) rank = i + 1;  // equal ones share a rank
    std::vector<std::string> row = {one.mean ? fmt::format("{}", rank) : "-"};
    for (size_t key = 0; key < request.keys.size(); ++key) {
      const std::string& change = changes[changes.size() - request.keys.size() + key];
      row.push_back(change.substr(change.find('=') + 1));
    }
    row.push_back(share(one.mean));
    row.push_back(one.least ? share(one.least) + " to " + share(one.most) : "-");
    row.push_back(share(one.test));
    row.push_back(fmt::format("{} of {}", one.finished, one.runs));
    table.rows.push_back(std::move(row));
  }
  table.note =
      "Success, sampled, means over seeds. The best of many looks better than it is: before it is "
      "believed, compare it with the recipe on seeds that chose nothing (hone compare).";
  return table;
}

Json ToJson(const ComparisonFile& sweep, const std::vector<RankedSetting>& ranked) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json::Array list;
  for (const RankedSetting& one : ranked) {
    const ComparisonArm& arm = sweep.arms[one.arm];
    list.push_back(Json::Of({{"arm", arm.name},
                             {"changes", Json::ArrayOf(arm.changes)},
                             {"dev", number(one.mean)},
                             {"least", number(one.least)},
                             {"most", number(one.most)},
                             {"test", number(one.test)},
                             {"finished", one.finished},
                             {"runs", one.runs}}));
  }
  return list;
}

}  // namespace hone
