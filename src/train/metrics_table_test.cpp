#include "train/metrics_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/file.h"
#include "learn/alarms.h"
#include "learn/objective_metrics.h"
#include "support/tiny_recipe.h"
#include "train/trainer.h"

namespace hone {
namespace {

std::set<std::string> NamesWrittenBy(const std::vector<std::string>& changes) {
  const TemporaryDirectory out;
  const Result<TrainingRecipe> recipe = ReadTiny(out.path(), changes);
  EXPECT_TRUE(recipe.ok()) << (recipe.ok() ? "" : recipe.error().message());
  const auto report = Train(*recipe, {});
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message());
  std::set<std::string> names;
  const auto lines = ParseJsonLines(*ReadFile(recipe->Folder() / "metrics.jsonl"));
  for (const Json& line : *lines) {
    for (const auto& [name, value] : line.AsObject()) names.insert(name);
  }
  names.erase("step");
  return names;
}

TEST(MetricsTable, KnowsEverythingThatTrainingWrites) {
  std::set<std::string> written = NamesWrittenBy(
      {"credit.method=gae-token", "objective.value.coefficient=0.5", "objective.kl.coefficient=0.1",
       "dynamic_sampling.on=true", "curriculum.order=dynamic"});
  written.merge(NamesWrittenBy({"credit.method=spear", "replay.on=true"}));
  for (const auto& [name, value] : ObjectiveMetrics().Named()) written.insert(name);
  EXPECT_GT(written.size(), 60u);
  for (const std::string& name : written) EXPECT_NE(FindMetric(name), nullptr) << name;
}

TEST(MetricsTable, HasAllThatAlarmsWatch) {
  for (const std::string& name : WatchedMetrics()) EXPECT_NE(FindMetric(name), nullptr) << name;
}

TEST(MetricsTable, HasAllThatTheDashboardDraws) {
  const std::regex drawn("metric: \"([^\"]+)\"");
  int found = 0;
  for (const char* file : {"pictures.ts", "compare_view.ts"}) {
    const std::string page = *ReadFile(std::filesystem::path(HONE_SOURCE_DIR) / "web/src" / file);
    for (std::sregex_iterator it(page.begin(), page.end(), drawn), end; it != end; ++it, ++found) {
      EXPECT_NE(FindMetric((*it)[1].str()), nullptr) << (*it)[1];
    }
  }
  EXPECT_GT(found, 20);
}

TEST(MetricsTable, IsWhatTheDocumentationSays) {
  const std::string page = *ReadFile(HONE_SOURCE_DIR "/docs/formats/metrics.md");
  for (const MetricSection section :
       {MetricSection::kAgent, MetricSection::kDrawn, MetricSection::kUpdate,
        MetricSection::kImitation, MetricSection::kTime}) {
    EXPECT_NE(page.find(MetricRows(section)), std::string::npos) << MetricRows(section);
  }
}

TEST(MetricsTable, EveryNameStandsOnceWithItsMeaning) {
  std::set<std::string_view> names;
  for (const Metric& metric : MetricsTable()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.meaning.empty()) << metric.name;
  }
}

TEST(MetricsTable, AFullNameGoesBeforeABeginningAndOthersAreUnknown) {
  EXPECT_EQ(FindMetric("reward/mean")->meaning, "all terms, each times its weight");
  EXPECT_EQ(FindMetric("reward/call")->name, "reward/*");
  EXPECT_EQ(FindMetric("sucess"), nullptr);
  EXPECT_EQ(FindMetric(""), nullptr);
}

}  // namespace
}  // namespace hone
