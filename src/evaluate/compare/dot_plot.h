#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate/statistics.h"

namespace hone {

// Estimates with their intervals, one below the other, on a common scale with a line at 0: which
// differences are there and which may be none. SVG that stands alone, in light and in dark.
struct DotPlot {
  struct Row {
    std::string label;
    std::optional<Interval> value;  // absent: the label stands alone
    bool has_interval = true;       // false: the dot alone is drawn
    bool shown = false;             // more than chance would do: in colour
  };
  std::string title, x_label;
  std::vector<Row> rows;
};

// Two pictures of the same values are the same bytes. A plot without values says so.
std::string ToSvg(const DotPlot& plot);

}  // namespace hone
