#include "app/views/suite_view.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

ShownSuite Made(std::string name, double share) {
  ShownSuite suite{.name = std::move(name), .figures = {}, .differences = {}};
  const Interval right{share, share - 0.1, share + 0.1};
  suite.figures.categories = {{.name = "simple", .cases = 40, .right = right, .errors = {}},
                              {.name = "empty", .cases = 0, .right = {}, .errors = {}}};
  suite.figures.all = {
      .name = "all", .cases = 40, .right = right, .errors = {{"b", 2}, {"a", 2}, {"c", 7}}};
  suite.figures.mean_of_categories = share;
  suite.figures.turns = 41;
  return suite;
}

TEST(SuiteView, SharesStandSideBySideWithTheirDifferences) {
  ShownSuite renamed = Made("renamed tools", 0.25);
  renamed.differences = {{.name = "simple", .cases = 40, .value = {-0.25, -0.3, -0.2}}};
  const std::string text = SuiteView({Made("plain", 0.5), renamed}, {});
  EXPECT_NE(text.find("  simple                    40      50.0 % [40.0, 60.0]     25.0 % [15.0, "
                      "35.0]     -25.0 [-30.0, -20.0]\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  empty                     0       -"), std::string::npos) << text;
  EXPECT_NE(text.find("mean of categories"), std::string::npos);
  EXPECT_NE(text.find("plain                     c 7, a 2, b 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("41 turns"), std::string::npos);
}

TEST(SuiteView, CostsAndPassesAreThereWhenTheyAre) {
  ShownSuite suite = Made("plain", 0.5);
  EXPECT_EQ(SuiteView({suite}, {}).find("latency"), std::string::npos);
  suite.figures.latency = {.p50 = 10, .p90 = 20, .p99 = 30};
  suite.figures.money = 0.5;
  suite.figures.passes = {{.k = 4, .tasks = 1, .one = Interval{1, 1, 1}, .every = {}}};
  suite.figures.not_measured = 3;
  suite.figures.samples = 37;
  suite.figures.problem = "gone";
  const std::string text = SuiteView({suite}, {});
  for (const char* part : {"latency 10 ms (90 %: 20, 99 %: 30)", "money 0.5000", "pass@4, pass^4",
                           "plain: 3 of 40 samples were not measured: gone"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hone
