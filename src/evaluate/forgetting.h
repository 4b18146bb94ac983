#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/figure_text.h"

// What a run with several environments keeps of each of them, stage by stage.

namespace hone {

// The name under which the evaluation after a stage is kept: "stage-2-rl". `number` is from 0.
std::string StageEvaluation(size_t number, std::string_view kind);

// What dev says, as values of a step: dev/sampled and dev/greedy, and of several environments
// dev/sampled/NAME and dev/greedy/NAME. Without those that nobody judged.
std::map<std::string, double> DevValues(const Json& evaluations);

// Keeps the last evaluation on dev under the name of a stage as well.
void KeepDevAs(std::string_view name, Json* evaluations);

// One environment, on the same dev tasks after each stage, sampled.
struct ForgettingRow {
  std::string environment;
  std::vector<std::optional<FigureCell>> after;  // success, by stage
  // Success after the best earlier stage less that after the last one: what was forgotten, below 0
  // what was gained beside. The interval is over tasks, paired. Absent: there is one stage.
  std::optional<FigureCell> forgotten;
};

// The same by task: 1 forgotten, 0 as before, -1 gained; absent: not known of both. Empty: there is
// one stage, or no such environment.
std::vector<std::optional<double>> ForgottenByTask(const Json& evaluations,
                                                   std::string_view environment);

struct ForgettingTable {
  std::vector<std::string> stages;  // "1 sft", "2 rl"
  int64_t tasks = 0;                // of all environments
  std::vector<ForgettingRow> rows;  // empty: there is one environment, or no stage is over
};

// From the evaluations of a run (TrainingState::evaluations).
ForgettingTable ForgettingOf(const Json& evaluations);

// {"stages": ["1 sft"], "environments": {"desk": {"after": [0.4], "forgotten": {"value", "low",
// "high"}}}}; null: the table is empty.
Json ToJson(const ForgettingTable& table);

}  // namespace hone
