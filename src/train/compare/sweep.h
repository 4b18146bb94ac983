#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "evaluate/compare/comparison_text.h"
#include "train/compare/comparison_file.h"

// Many settings of one recipe: a comparison whose arms are made, and a table that ranks them.

namespace hone {

// The values that a key of the recipe may take.
struct SweptKey {
  std::string key;
  std::vector<std::string> values;  // each as TOML; empty: a range
  double low = 0, high = 0;         // a range, both included
  bool logarithmic = false;         // drawn evenly by size, not by distance
  bool whole = false;               // integers
};

// "KEY=A,B,C", "KEY=LOW..HIGH" or "KEY=LOW..HIGH:log". Commas within brackets and quotes do not
// part values.
Result<SweptKey> ParseSweptKey(std::string_view text);

struct SweepRequest {
  std::string recipe;
  std::vector<SweptKey> keys;
  std::vector<std::string> set;  // key=value for every run
  int64_t random = 0;            // settings to draw; 0: all of the grid
  int64_t seeds = 1;             // of each setting
  int64_t seed_from = 1;
  int64_t most_runs = 0;           // 0: no limit; else so many settings of the grid, drawn
  uint64_t draw_seed = 1;          // of what is drawn
  std::string choose = "dev/end";  // what settings are ranked by
};

// One arm for each setting, in the order of the grid or as they were drawn; named by what is set.
// An error when a range has no --random, when there is nothing to sweep, or when the limit does not
// allow one setting.
Result<ComparisonFile> MakeSweep(const SweepRequest& request);

// The settings, the best first: by the mean over seeds of what they are ranked by; those with runs
// that are missing or failed come last. Test is shown and never looked at.
struct RankedSetting {
  size_t arm = 0;                           // place in the comparison
  std::optional<double> mean, least, most;  // of what is ranked by
  std::optional<double> test;               // success at the end, mean of those that measured it
  int64_t finished = 0, runs = 0;
};
std::vector<RankedSetting> RankSettings(const ComparisonFile& sweep,
                                        const std::vector<ComparedRun>& runs);
ReportTable RankTable(const SweepRequest& request, const ComparisonFile& sweep,
                      const std::vector<RankedSetting>& ranked);
Json ToJson(const ComparisonFile& sweep, const std::vector<RankedSetting>& ranked);

}  // namespace hone
