#include "envs/desk/desk_world.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace hone::desk {
namespace {

TEST(WorldTest, FactsAreAFunctionOfTheSeedAndSpreadOut) {
  std::map<std::string_view, int> skies;
  std::set<int64_t> temps;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Weather weather = World(seed).WeatherOf("Oslo", "Mon");
    EXPECT_EQ(weather.sky, World(seed).WeatherOf("Oslo", "Mon").sky);
    ++skies[weather.sky];
    temps.insert(weather.temp);
  }
  EXPECT_EQ(skies.size(), 5u);
  for (const auto& [sky, count] : skies) EXPECT_NEAR(count, 200, 60) << sky;
  EXPECT_EQ(*temps.begin(), 10);
  EXPECT_EQ(*temps.rbegin(), 39);
}

TEST(WorldTest, ConversionsRoundDown) {
  EXPECT_EQ(Convert(*FindConversion("km", "mi"), 100), 62);
  EXPECT_EQ(Convert(*FindConversion("km", "mi"), 11), 6);
  EXPECT_EQ(Convert(*FindConversion("mi", "km"), 7), 11);
  EXPECT_EQ(Convert(*FindConversion("usd", "eur"), -1), -1);
  EXPECT_EQ(FindConversion("km", "kg"), nullptr);
}

TEST(WorldTest, ExpressionsAreWhatTheCalculatorTakes) {
  for (const char* good : {"1", "12+7*3", "1-2-3-4-5", "9999*9999"}) {
    EXPECT_TRUE(IsExpression(good)) << good;
  }
  for (const char* bad : {"", "+1", "1+", "12345", "1+2+3+4+5+6", "1/2", "1 + 2", "(1)"}) {
    EXPECT_FALSE(IsExpression(bad)) << bad;
  }
}

}  // namespace
}  // namespace hone::desk
