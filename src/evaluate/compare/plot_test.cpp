#include "evaluate/compare/plot.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(PlotTest, TicksAreRoundAndInside) {
  EXPECT_EQ(Ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(Ticks(3, 27, 5), (std::vector<double>{5, 10, 15, 20, 25}));
  EXPECT_EQ(Ticks(-0.1, 0.1, 2), (std::vector<double>{-0.1, 0, 0.1}));
  EXPECT_EQ(Ticks(4, 4, 5), (std::vector<double>{4}));
}

TEST(PlotTest, CurvesBandsMarksAndNames) {
  Plot plot{.title = "a < b", .x_label = "steps", .y_label = "success"};
  plot.curves = {
      {.name = "one", .points = {{0, 0.1, 0, 0.2}, {1, 0.5, 0.4, 0.6}}},
      {.name = "two", .points = {{0, 0.3, 0.3, 0.3}, {1, 0.2, 0.2, 0.2}}, .dashed = true}};
  plot.marks = {{0.5, "alarm"}, {7, "outside"}};
  const std::string svg = ToSvg(plot);
  EXPECT_EQ(Count(svg, "<polyline"), 2u);
  EXPECT_EQ(Count(svg, "<polygon"), 1u);
  EXPECT_EQ(Count(svg, "alarm"), 1u);
  EXPECT_EQ(Count(svg, "outside"), 0u);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_EQ(svg, ToSvg(plot));
}

TEST(PlotTest, WhatIsNoNumberLeavesAGap) {
  Plot plot;
  plot.curves = {
      {.name = "c", .points = {{0, 1, 1, 1}, {1, NAN, 0, 0}, {2, 1, 1, 1}, {3, 2, 2, 2}}}};
  EXPECT_EQ(Count(ToSvg(plot), "<polyline"), 2u);
  EXPECT_EQ(Count(ToSvg(plot), "<circle"), 1u);  // the lone point
  EXPECT_EQ(Count(ToSvg(plot), "nan"), 0u);
  plot.log_y = true;
  plot.curves[0].points[0].y = 0;
  EXPECT_EQ(Count(ToSvg(plot), "<polyline"), 1u);
  EXPECT_EQ(Count(ToSvg(plot), "inf"), 0u);
}

TEST(PlotTest, DotsStandAtThePoints) {
  Plot plot;
  plot.curves = {{.name = "c", .points = {{0, 1, 1, 1}, {1, 2, 2, 2}}, .dots = true}};
  EXPECT_EQ(Count(ToSvg(plot), "<circle"), 2u);
}

TEST(PlotTest, NothingIsSaidToBeNothing) {
  EXPECT_NE(ToSvg({.title = "t"}).find("nothing to draw"), std::string::npos);
}

}  // namespace
}  // namespace hone
