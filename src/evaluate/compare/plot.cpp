#include "evaluate/compare/plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/html.h"

namespace hone {
namespace {

constexpr double kPlotWidth = 720, kPlotHeight = 380;
constexpr double kPlotLeft = 64, kPlotRight = 20, kPlotTop = 40, kPlotBottom = 52;

// Told apart by those who see few colours, too.
constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#7a5195", "#8a8a8a"};

// From a value to a place on the picture.
class Axis {
 public:
  Axis(double low, double high, bool log, double from, double to)
      : log_(log), low_(Shown(low)), high_(Shown(high)), from_(from), to_(to) {
    if (!(high_ > low_)) high_ = low_ + 1;
  }
  double operator()(double value) const {
    return from_ + (to_ - from_) * (Shown(value) - low_) / (high_ - low_);
  }

 private:
  double Shown(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double low_, high_, from_, to_;
};

struct Extent {
  double low = INFINITY, high = -INFINITY;

  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

bool Drawn(const Plot& plot, const PlotPoint& point) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) return false;
  return (!plot.log_x || point.x > 0) && (!plot.log_y || (point.y > 0 && point.low > 0));
}

bool HasBand(const PlotPoint& point) { return point.low < point.high; }

// The pieces of a curve between its gaps.
std::vector<std::vector<PlotPoint>> PiecesOf(const Plot& plot, const Curve& curve) {
  std::vector<std::vector<PlotPoint>> pieces(1);
  for (const PlotPoint& point : curve.points) {
    if (Drawn(plot, point)) {
      pieces.back().push_back(point);
    } else if (!pieces.back().empty()) {
      pieces.emplace_back();
    }
  }
  if (pieces.back().empty()) pieces.pop_back();
  return pieces;
}

std::vector<double> TicksOf(double low, double high, bool log, int count) {
  if (!log) return Ticks(low, high, count);
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high) + 1e-9; ++power) {
    ticks.push_back(std::pow(10, power));
  }
  return ticks;
}

std::string DrawCurve(const Plot& plot, const Curve& curve, const char* colour, const Axis& x,
                      const Axis& y) {
  std::string svg;
  for (const std::vector<PlotPoint>& piece : PiecesOf(plot, curve)) {
    std::string line, upper, lower;
    bool band = false;
    for (const PlotPoint& point : piece) {
      line += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y));
      band |= HasBand(point);
      upper += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.high));
      lower.insert(0, fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.low)));
    }
    if (band) {
      svg += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.16\"/>\n", upper,
                         lower, colour);
    }
    for (const PlotPoint& point : piece) {
      if (!curve.dots && piece.size() > 1) break;
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n",
                         x(point.x), y(point.y), colour);
    }
    svg +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
                    line, colour, curve.dashed ? " stroke-dasharray=\"6 4\"" : "");
  }
  return svg;
}

std::string DrawMarks(const Plot& plot, const Extent& across, const Axis& x) {
  std::string svg;
  for (const Plot::Mark& mark : plot.marks) {
    if (mark.x < across.low || mark.x > across.high || (plot.log_x && mark.x <= 0)) continue;
    const bool late = x(mark.x) > 0.7 * kPlotWidth;  // its word stands before it
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:g}\" y2=\"{2:g}\" stroke=\"#dc2626\" "
        "stroke-dasharray=\"3 3\"/><text x=\"{3:.1f}\" y=\"{4:g}\" "
        "fill=\"#dc2626\"{6}>{5}</text>\n",
        x(mark.x), kPlotTop, kPlotHeight - kPlotBottom, x(mark.x) + (late ? -4 : 4), kPlotTop + 10,
        EscapeHtml(mark.text), late ? " text-anchor=\"end\"" : "");
  }
  return svg;
}

// The curves' names below the plot, three to a row.
std::string DrawLegend(const Plot& plot) {
  std::string svg;
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    const double left =
        kPlotLeft + static_cast<double>(i % 3) * (kPlotWidth - kPlotLeft - kPlotRight) / 3;
    const double line = kPlotHeight + 8 + 18 * std::floor(static_cast<double>(i) / 3);
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:g}\" y2=\"{2:g}\" stroke=\"{3}\" "
        "stroke-width=\"3\"{4}/><text x=\"{5:.1f}\" y=\"{6:g}\">{7}</text>\n",
        left, left + 22, line - 4, kColours[i % kColours.size()],
        plot.curves[i].dashed ? " stroke-dasharray=\"6 4\"" : "", left + 28, line,
        EscapeHtml(plot.curves[i].name));
  }
  return svg;
}

}  // namespace

std::vector<double> Ticks(double low, double high, int count) {
  if (!(high > low) || count < 1) return {low};
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + step * 1e-9; ++n) {
    ticks.push_back(n * step == 0 ? 0 : n * step);
  }
  return ticks;
}

std::string ToSvg(const Plot& plot) {
  Extent across, up;
  for (const Curve& curve : plot.curves) {
    for (const PlotPoint& point : curve.points) {
      if (!Drawn(plot, point)) continue;
      across.Add(point.x);
      up.Add(point.y);
      if (HasBand(point)) {
        up.Add(point.low);
        up.Add(point.high);
      }
    }
  }
  // Enough room for the names of all curves, three to a row.
  const double legend = 18 * std::ceil(static_cast<double>(plot.curves.size()) / 3) + 8;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#6b7280\">\n"
      "<title>{2}</title>\n<text x=\"{3:g}\" y=\"22\" font-size=\"14\" "
      "font-weight=\"600\">{2}</text>\n",
      kPlotWidth, kPlotHeight + legend, EscapeHtml(plot.title), kPlotLeft);
  if (across.empty()) {
    return svg + fmt::format("<text x=\"{:g}\" y=\"{:g}\">nothing to draw</text>\n</svg>\n",
                             kPlotLeft, kPlotHeight / 2);
  }
  if (plot.y_range) up = {plot.y_range->first, plot.y_range->second};
  const Axis x(across.low, across.high, plot.log_x, kPlotLeft, kPlotWidth - kPlotRight);
  const Axis y(up.low, up.high, plot.log_y, kPlotHeight - kPlotBottom, kPlotTop);
  for (const double tick : TicksOf(up.low, up.high, plot.log_y, 5)) {
    svg += fmt::format(
        "<line x1=\"{0:g}\" x2=\"{1:g}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#9ca3af\" "
        "stroke-opacity=\"0.35\"/><text x=\"{3:g}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>"
        "\n",
        kPlotLeft, kPlotWidth - kPlotRight, y(tick), kPlotLeft - 8, y(tick) + 4, tick);
  }
  for (const double tick : TicksOf(across.low, across.high, plot.log_x, 6)) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:g}\" text-anchor=\"middle\">{:g}</text>\n",
                       x(tick), kPlotHeight - kPlotBottom + 18, tick);
  }
  svg += fmt::format(
      "<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n"
      "<text transform=\"translate(16 {:g}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (kPlotLeft + kPlotWidth - kPlotRight) / 2, kPlotHeight - kPlotBottom + 38,
      EscapeHtml(plot.x_label), (kPlotTop + kPlotHeight - kPlotBottom) / 2,
      EscapeHtml(plot.y_label));
  svg += DrawMarks(plot, across, x);
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    svg += DrawCurve(plot, plot.curves[i], kColours[i % kColours.size()], x, y);
  }
  svg += DrawLegend(plot);
  return svg + "</svg>\n";
}

}  // namespace hone
