#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "evaluate/statistics.h"

// Figures of evaluations that were written down (Evaluation::ToJson), as people read them.

namespace hone {

// "91.2 % [88.7, 93.6]"; a count is "1.23 [1.20, 1.26]". Without its interval when that is not
// known (low = value = high = the same says that it is). Behind a share that does not rest on all
// trajectories stands on how many it does: "100.0 % [100.0, 100.0] of 3".
struct FigureCell {
  double value = 0;
  std::optional<Interval> interval;
  bool share = true;
  std::optional<int64_t> of = {};  // trajectories that say something about it, if not all do

  std::string Text() const;
};

// A figure of all tasks; absent: there was nothing to count, or the evaluation (null: none) does
// not have it. Evaluations of older programs have a few of them, without intervals.
std::optional<FigureCell> FigureIn(const Json* evaluation, std::string_view name);

// The success of a family or kind or environment (`groups`: "families", "kinds", "environments").
std::optional<FigureCell> GroupIn(const Json* evaluation, std::string_view groups,
                                  std::string_view name);
std::vector<std::string> GroupsIn(const Json* evaluation, std::string_view groups);

// "-" for what is not there.
std::string TextOf(const std::optional<FigureCell>& cell);

}  // namespace hone
