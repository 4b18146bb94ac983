#include "evaluate/compare/dot_plot.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(DotPlot, DrawsADotAndItsIntervalInTheColourOfWhatItShows) {
  const std::string svg = ToSvg(DotPlot{.title = "a & b",
                                        .x_label = "points",
                                        .rows = {{"surely", Interval{2, 1, 3}, true, true},
                                                 {"one seed", Interval{2, 1, 3}},
                                                 {"alone", Interval{-2, 0, 0}, false}}});
  EXPECT_NE(svg.find("<title>a &amp; b</title>"), std::string::npos);
  const auto count = [&](std::string_view part) {
    int64_t found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<circle"), 3);
  EXPECT_EQ(count("fill=\"#0072b2\""), 1) << "one is shown to be there";
  EXPECT_EQ(count("fill=\"#8a8a8a\""), 2);
  EXPECT_EQ(count("stroke-width=\"2\""), 2) << "one has no interval";
}

TEST(DotPlot, SaysWhenThereIsNothingAndDrawsAllZeros) {
  EXPECT_NE(ToSvg(DotPlot{.title = "x"}).find("nothing to draw"), std::string::npos);
  const std::string zeros = ToSvg(DotPlot{.rows = {{"a", Interval{0, 0, 0}}}});
  EXPECT_EQ(zeros.find("nan"), std::string::npos);
  EXPECT_EQ(zeros.find("inf"), std::string::npos);
  EXPECT_NE(zeros.find("<circle"), std::string::npos);
}

}  // namespace
}  // namespace hone
