#include "envs/desk/draft.h"

#include <gtest/gtest.h>

#include <map>

namespace hone::desk {
namespace {

TEST(ShareTest, EverySetHasSomeOfEverything) {
  std::map<Share, int> contacts, clocks, weathers;
  for (const std::string_view name : Names()) ++contacts[ShareOf(ContactKey(name))];
  for (const std::string_view city : Cities()) {
    ++clocks[ShareOf(ClockKey(city))];
    for (const std::string_view day : Days()) ++weathers[ShareOf(WeatherKey(city, day))];
  }
  EXPECT_EQ(contacts,
            (std::map<Share, int>{{Share::kTrain, 16}, {Share::kDev, 3}, {Share::kTest, 5}}));
  EXPECT_EQ(clocks,
            (std::map<Share, int>{{Share::kTrain, 10}, {Share::kDev, 2}, {Share::kTest, 4}}));
  EXPECT_GE(weathers[Share::kDev], 5);
  EXPECT_GE(weathers[Share::kTest], 12);
}

TEST(DraftTest, SumsAreTheSameEitherWayRound) {
  EXPECT_EQ(SumKey(12, '+', 34), SumKey(34, '+', 12));
  EXPECT_NE(SumKey(12, '-', 34), SumKey(34, '-', 12));
  EXPECT_EQ(PutIn("{a} and {b}", {{"a", "x"}, {"b", "y"}}), "x and y");
}

}  // namespace
}  // namespace hone::desk
