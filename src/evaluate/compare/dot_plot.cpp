#include "evaluate/compare/dot_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/html.h"
#include "evaluate/compare/plot.h"

namespace hone {
namespace {

constexpr double kWidth = 720, kTop = 40, kRow = 26, kBottom = 48, kRight = 24;
constexpr double kCharacter = 6.6;  // of the font, about

}  // namespace

std::string ToSvg(const DotPlot& plot) {
  double low = 0, high = 0, left = 40;
  bool any = false;
  for (const DotPlot::Row& row : plot.rows) {
    left = std::max(left, 24 + kCharacter * static_cast<double>(row.label.size()));
    if (!row.value) continue;
    any = true;
    for (const double value : {row.value->value, row.has_interval ? row.value->low : 0.0,
                               row.has_interval ? row.value->high : 0.0}) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  left = std::min(left, kWidth / 2);
  const double bottom = kTop + kRow * static_cast<double>(std::max<size_t>(plot.rows.size(), 1));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#6b7280\">\n"
      "<title>{2}</title>\n<text x=\"16\" y=\"22\" font-size=\"14\" "
      "font-weight=\"600\">{2}</text>\n",
      kWidth, bottom + kBottom, EscapeHtml(plot.title));
  if (!any) {
    return svg + fmt::format("<text x=\"16\" y=\"{:g}\">nothing to draw</text>\n</svg>\n",
                             kTop + kRow / 2);
  }
  // Some room at both ends, and a scale even where all is 0.
  const double room = high > low ? 0.06 * (high - low) : 1;
  low -= room;
  high += room;
  const auto x = [&](double value) {
    return left + (kWidth - kRight - left) * (value - low) / (high - low);
  };
  for (const double tick : Ticks(low, high, 6)) {
    const bool zero = tick == 0;
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:g}\" y2=\"{2:g}\" stroke=\"{3}\" "
        "stroke-opacity=\"{4}\"/><text x=\"{0:.1f}\" y=\"{5:g}\" "
        "text-anchor=\"middle\">{6:g}</text>\n",
        x(tick), kTop, bottom, zero ? "#6b7280" : "#9ca3af", zero ? "1" : "0.35", bottom + 18,
        tick);
  }
  for (size_t i = 0; i < plot.rows.size(); ++i) {
    const DotPlot::Row& row = plot.rows[i];
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    svg += fmt::format("<text x=\"{:g}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 10,
                       y + 4, EscapeHtml(row.label));
    if (!row.value) continue;
    const char* colour = row.shown ? "#0072b2" : "#8a8a8a";
    if (row.has_interval) {
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" "
          "stroke-width=\"2\"/>\n",
          x(row.value->low), x(row.value->high), y, colour);
    }
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"{}\"/>\n",
                       x(row.value->value), y, colour);
  }
  return svg +
         fmt::format("<text x=\"{:.1f}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n</svg>\n",
                     (left + kWidth - kRight) / 2, bottom + 38, EscapeHtml(plot.x_label));
}

}  // namespace hone
