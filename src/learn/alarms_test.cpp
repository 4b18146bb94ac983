#include "learn/alarms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace hone {
namespace {

TEST(Alarms, EachHasANameAMetricAndAnAdviceThatSaysWhatToDo) {
  std::set<std::string> names;
  for (const Alarm& alarm : BuiltInAlarms()) {
    EXPECT_TRUE(names.insert(alarm.name).second) << alarm.name;
    EXPECT_FALSE(alarm.condition.metric.empty()) << alarm.name;
    EXPECT_GT(alarm.advice.size(), 30u) << alarm.name;
    EXPECT_GE(alarm.condition.window, 1) << alarm.name;
    EXPECT_GE(alarm.hold, 1) << alarm.name;
    EXPECT_FALSE(RemedyText(alarm.remedy).empty()) << alarm.name;
  }
  const std::vector<std::string> watched = WatchedMetrics();
  EXPECT_TRUE(std::is_sorted(watched.begin(), watched.end()));
  for (const char* name : {"entropy", "kl", "dev/success", "reward/mean", "grad_norm"}) {
    EXPECT_TRUE(std::binary_search(watched.begin(), watched.end(), name)) << name;
  }
}

TEST(Alarms, AreReadFromARecipe) {
  auto recipe = Recipe::Parse(R"(
mode = "apply"
ignore = ["truncation"]
most_roll_backs = 1
[[set]]
name = "entropy-collapse"
bound = 0.5
window = 2
hold = 7
)",
                              "r.toml");
  const AlarmOptions options = ReadAlarms(recipe->Root());
  ASSERT_TRUE(recipe->Finish().ok());
  EXPECT_EQ(options.mode, AlarmOptions::Mode::kApply);
  EXPECT_EQ(options.most_roll_backs, 1);
  EXPECT_EQ(options.alarms.size(), BuiltInAlarms().size() - 1);
  const auto found = std::find_if(options.alarms.begin(), options.alarms.end(),
                                  [](const Alarm& a) { return a.name == "entropy-collapse"; });
  EXPECT_EQ(found->condition.bound, 0.5);
  EXPECT_EQ(found->condition.window, 2);
  EXPECT_EQ(found->hold, 7);
}

TEST(Alarms, UnknownNamesAreRefusedWithTheNearest) {
  auto recipe = Recipe::Parse(
      "mode = 'loud'\nignore = ['truncatoin']\n[[set]]\nname = 'kl-explosio'\nbound = 2\n", "r");
  ReadAlarms(recipe->Root());
  const Result<void> finished = recipe->Finish();
  ASSERT_FALSE(finished.ok());
  for (const char* word : {"mode", "truncation", "kl-explosion"}) {
    EXPECT_NE(finished.error().message().find(word), std::string::npos)
        << word << "\n"
        << finished.error().message();
  }
}

}  // namespace
}  // namespace hone
