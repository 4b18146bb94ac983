#include "evaluate/compare/comparison_page.h"

#include <gtest/gtest.h>

#include "base/html.h"

namespace hone {
namespace {

ComparedRun RunOf(std::string arm, uint64_t seed, std::string outcomes) {
  ComparedRun run;
  run.arm = std::move(arm);
  run.seed = seed;
  run.status = ComparedRun::Status::kFinished;
  run.dev = {{256, 0.5, 0.6}, {512, 0.7, 0.8}};
  run.evaluations.Set("after/test/sampled",
                      Json::Of({{"tasks", 2}, {"outcomes", std::move(outcomes)}}));
  return run;
}

TEST(ComparisonPage, StandsAloneWithCurvesDotsAndEveryTable) {
  const std::vector<ComparedRun> runs = {RunOf("a", 1, "10"), RunOf("b", 1, "11")};
  const ComparedSection section{.title = "x < y",
                                .arms = {{.name = "a", .label = "a & co", .runs = {&runs[0]}},
                                         {.name = "b", .label = "b", .runs = {&runs[1]}}},
                                .seeds = {1}};
  const SectionReport report = ReportSection(section);
  const std::string page =
      ComparisonPage({"Results", "", "hone compare a b"}, {section}, {report}, runs, {});
  for (const char* part :
       {"<h1>Results</h1>", "x &lt; y", "a &amp; co", "<polyline", "<circle",
        "difference to a &amp; co", "Every run", "<pre>hone compare a b</pre>"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  for (const ReportTable& table : TablesOf(section, report)) {
    EXPECT_NE(page.find(EscapeHtml(table.heading)), std::string::npos) << table.heading;
  }
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos) << "nothing from elsewhere";
}

TEST(ComparisonPage, OfNothingYetSaysSo) {
  const ComparedSection section{.arms = {{.name = "a", .label = "a"}, {.name = "b", .label = "b"}},
                                .seeds = {1}};
  const std::string page =
      ComparisonPage({"Results", "", ""}, {section}, {ReportSection(section)}, {}, {});
  EXPECT_NE(page.find("a: not finished (seed 1)"), std::string::npos);
  EXPECT_EQ(page.find("<svg"), std::string::npos);
}

}  // namespace
}  // namespace hone
