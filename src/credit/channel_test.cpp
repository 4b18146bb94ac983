#include "credit/channel.h"

#include <gtest/gtest.h>

#include "support/credit_groups.h"

namespace hone {
namespace {

class ChannelTest : public testing::Test {
 protected:
  void Open(const std::string& json) {
    made_ = GroupFrom(json);
    groups_ = {*GroupOf(made_.record)};
    builders_.clear();
    builders_.emplace_back(groups_[0], false);
  }
  std::vector<float> Of(const Channel& channel, size_t trajectory) {
    ApplyChannel(channel, groups_, builders_);
    return builders_[0].total(trajectory);
  }
  static Channel Outcome() {
    Channel channel;
    channel.name = "outcome";
    channel.values = [](const Group& group) { return TrajectorySums(group, {{"outcome"}, {}}); };
    return channel;
  }

  ShortGroup made_;
  std::vector<Group> groups_;
  std::vector<CreditBuilder> builders_;
};

TEST_F(ChannelTest, ValueMinusMeanTimesWeightOnTheMask) {
  Open(R"({"group":[{"terms":{"outcome":1},"turns":[{"tokens":3,"calls":[{"begin":1,"end":2}]}]},
                    {"terms":{"outcome":0},"turns":[{"tokens":1}]}]})");
  Channel channel = Outcome();
  channel.weight = 2;
  channel.mask = TokenMask::kActions;
  EXPECT_EQ(Of(channel, 0), (std::vector<float>{0, 1, 0}));
}

TEST_F(ChannelTest, TheGateKeepsPeopleOutOfTheStatistics) {
  Open(GroupOfPlain({"1", "0", "8"}));
  Channel channel = Outcome();
  channel.gate = [](const Group&, const Trajectory& trajectory) { return trajectory.leaf < 2; };
  EXPECT_EQ(Of(channel, 0)[0], 0.5f);
  EXPECT_EQ(builders_[0].total(2)[0], 0);
  EXPECT_FALSE(builders_[0].TakesPart(2));
}

TEST_F(ChannelTest, SignsThatContradictTheValueBecomeNothing) {
  Open(GroupOfPlain({"1", "3", "-1", "-5"}));
  Channel channel = Outcome();
  channel.keep_sign = true;  // mean -0.5
  EXPECT_EQ(Of(channel, 0)[0], 1.5f);
  EXPECT_EQ(builders_[0].total(2)[0], -0.5f);
  Open(GroupOfPlain({"1", "9"}));
  EXPECT_EQ(Of(channel, 0)[0], 0) << "less than the other, but right";
}

TEST_F(ChannelTest, TheBatchsDeviationIsOfAllGroups) {
  const ShortGroup one = GroupFrom(GroupOfPlain({"0", "2"})),
                   two = GroupFrom(GroupOfPlain({"4", "6"}));
  const std::vector<Group> groups = {*GroupOf(one.record), *GroupOf(two.record)};
  std::vector<CreditBuilder> builders;
  for (const Group& group : groups) builders.emplace_back(group, false);
  Channel channel = Outcome();
  channel.normaliser.scale = Scale::kBatchDeviation;
  ApplyChannel(channel, groups, builders);
  EXPECT_NEAR(builders[1].total(1)[0], 1 / 2.581989, 1e-5);
}

}  // namespace
}  // namespace hone
