#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/score.h"
#include "text/tokenizer.h"
#include "train/folder/run_folder.h"

namespace hone {

// What a run has written down so far, for whoever tells of it. Somebody may be training in the
// folder meanwhile.
struct RunHistory {
  std::filesystem::path folder;
  std::string recipe;                  // recipe.toml
  std::optional<TrainingState> state;  // of the last checkpoint; absent: there is none yet
  std::optional<Json> result;          // result.json; absent: the run has not ended

  // One entry per step that was logged, ascending.
  struct Step {
    int64_t step = 0;  // of all stages, from 1
    std::map<std::string, double> values;
  };
  std::vector<Step> steps;

  // Groups in which trajectories fared differently, from the first and the last steps of rl.
  struct Example {
    int64_t step = 0;
    ScoredTree record;
    int32_t best = 0, worst = 0;  // leaves
  };
  std::vector<Example> examples;
  std::unique_ptr<Tokenizer> tokenizer;  // null: there is none
};

// The steps of a metrics.jsonl, in its order; none where there is no such file. Lines that cannot
// be read are left out: the last one may be half written.
Result<std::vector<RunHistory::Step>> ReadMetricLines(const std::filesystem::path& file);

// A folder that is no run is an error; what is missing of a run is not.
Result<RunHistory> ReadRunHistory(const std::filesystem::path& folder);

// The values of a metric over the steps that have it.
std::vector<std::pair<int64_t, double>> SeriesOf(const RunHistory& run, const std::string& name);

}  // namespace hone
