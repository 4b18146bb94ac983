#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hone {

// Pictures as text: SVG that stands alone in a file and inside a page, in light and in dark.

struct PlotPoint {
  double x = 0;
  double y = 0;
  double low = 0, high = 0;  // the band around it; both equal to y: none
};

struct Curve {
  std::string name;
  std::vector<PlotPoint> points;  // ascending in x; those that are not finite leave a gap
  bool dashed = false;
  bool dots = false;  // a circle at each point
};

struct Plot {
  std::string title;
  std::string x_label, y_label;
  std::vector<Curve> curves;
  std::optional<std::pair<double, double>> y_range;  // absent: what is drawn
  bool log_x = false, log_y = false;                 // then only what is above 0 is drawn
  struct Mark {
    double x = 0;
    std::string text;
  };
  std::vector<Mark> marks;  // vertical lines with a word: alarms, stages
};

// Two pictures of the same values are the same bytes. A plot without points says so.
std::string ToSvg(const Plot& plot);

// About `count` round numbers from low to high: 0, 0.2, 0.4, ...
std::vector<double> Ticks(double low, double high, int count);

}  // namespace hone
