#include "learn/good_trajectories.h"

#include <gtest/gtest.h>

#include "record/validate.h"
#include "support/credit_groups.h"

namespace hone {
namespace {

// A right trajectory with a call, a wrong one with a call, a right one without.
std::shared_ptr<const ScoredTree> Record(const char* best = "1") {
  const std::string call = R"(,"turns":[{"tokens":2,"calls":[{"begin":0,"end":1}]}]})";
  return std::make_shared<ScoredTree>(GroupFrom(std::string(R"({"group":[{"terms":{"outcome":)") +
                                                best + "}" + call + R"(,{"terms":{"outcome":0})" +
                                                call + "," + Plain("1") + "]}")
                                          .record);
}

void Add(GoodTrajectories* buffer, const std::shared_ptr<const ScoredTree>& record, int64_t step) {
  buffer->Add(*record, *AssignCredit(*NewMethod("dr-grpo"), *record), step);
}

TEST(GoodTrajectories, KeepsGoodTrajectoriesThatCalled) {
  GoodTrajectories buffer({.capacity = 2});
  EXPECT_FALSE(buffer.Median().has_value());
  EXPECT_TRUE(buffer.Take(Rng(1)).empty()) << "no baseline yet: nothing is replayed";
  Add(&buffer, Record(), 0);
  EXPECT_EQ(buffer.size(), 1u);
  EXPECT_FALSE(buffer.Ready());
  for (int i = 0; i < 3; ++i) Add(&buffer, Record(), 1);
  EXPECT_TRUE(buffer.Ready());
  EXPECT_NEAR(buffer.Median()->mean, 2.0 / 3, 1e-12);
  const auto replayed = buffer.Take(Rng(1));
  ASSERT_EQ(replayed.size(), 2u);
  EXPECT_EQ(replayed[0].record->tree.leaves.size(), 1u);
  EXPECT_NEAR(replayed[0].advantage, 1.0 / 3, 1e-12);
  EXPECT_EQ(buffer.size(), 0u);
}

// As TencentYoutuResearch/SPEAR counts (verl/, TrajectoryBufferBatch): what is too old beside the
// newest leaves when a later step adds; full is what is above the median; one alone is not
// replayed.
TEST(GoodTrajectories, WhatIsOldOrNoLongerGoodIsNotReplayed) {
  GoodTrajectories buffer({.capacity = 8, .tolerated_steps = 3});
  Add(&buffer, Record(), 0);
  Add(&buffer, Record(), 4);
  EXPECT_EQ(buffer.size(), 2u) << "beside the newest that was there, step 0 was not old";
  Add(&buffer, Record("0.5"), 5);  // no better than its group
  EXPECT_EQ(buffer.size(), 1u) << "step 0 left";
  for (int i = 0; i < 5; ++i) Add(&buffer, Record("9"), 5);  // groups earn far more now
  const auto replayed = buffer.Take(Rng(1));
  EXPECT_EQ(replayed.size(), 4u) << "a power of two of the five";
  for (const auto& one : replayed) {
    EXPECT_GT(one.advantage, 0);
    EXPECT_EQ(one.record->scores[0].terms[0].value, 9);
  }
  Add(&buffer, Record(), 6);
  EXPECT_TRUE(buffer.Take(Rng(1)).empty()) << "one alone";
}

TEST(GoodTrajectories, FullIsWhatIsAboveTheMedian) {
  GoodTrajectories buffer({.capacity = 2});
  for (int i = 0; i < 8; ++i) Add(&buffer, Record("0.9"), 0);
  EXPECT_TRUE(buffer.Ready());
  for (int i = 0; i < 40; ++i) Add(&buffer, Record("3"), 1);
  GoodTrajectories poor({.capacity = 2});
  for (int i = 0; i < 40; ++i) Add(&poor, Record("3"), 0);
  poor.Take(Rng(1));
  for (int i = 0; i < 8; ++i) Add(&poor, Record("0.9"), 1);
  EXPECT_FALSE(poor.Ready()) << "none of them is above the median baseline of 4/3";
}

TEST(GoodTrajectories, ATrajectoryAloneIsAValidRecordWithItsScore) {
  const auto record = Record("0.5");
  for (int32_t leaf = 0; leaf < 3; ++leaf) {
    const ScoredTree alone = TrajectoryAlone(*record, leaf);
    EXPECT_TRUE(Validate(alone).empty());
    ASSERT_EQ(alone.scores.size(), 1u);
    EXPECT_EQ(Total(alone.scores[0]), Total(record->scores[static_cast<size_t>(leaf)]));
    EXPECT_EQ(TokensOf(alone.tree, WholePathTo(alone.tree, alone.tree.leaves[0].node)),
              TokensOf(record->tree, WholePathTo(record->tree, record->tree.leaves[leaf].node)));
  }
}

TEST(GoodTrajectories, RestoredItGoesOn) {
  GoodTrajectories buffer({.capacity = 4});
  for (int i = 0; i < 7; ++i) Add(&buffer, Record(i % 2 == 0 ? "1" : "2"), i);
  GoodTrajectories resumed({.capacity = 4});
  const Result<Json> state = ParseJson(DumpJson(buffer.ToJson()));
  ASSERT_TRUE(resumed.Restore(*state).ok());
  EXPECT_EQ(resumed.size(), buffer.size());
  const auto expected = buffer.Take(Rng(3)), replayed = resumed.Take(Rng(3));
  ASSERT_EQ(replayed.size(), expected.size());
  EXPECT_EQ(replayed.size(), 4u);
  for (size_t i = 0; i < replayed.size(); ++i) {
    EXPECT_EQ(*replayed[i].record, *expected[i].record);
    EXPECT_EQ(replayed[i].advantage, expected[i].advantage);
  }
  EXPECT_EQ(resumed.Median()->mean, buffer.Median()->mean);
  for (const char* bad :
       {"{}", R"({"entries":[{}],"baselines":[]})", R"({"entries":[],"baselines":[[1]]})",
        R"({"entries":[{"record":{},"reward":1,"step":1}],"baselines":[]})"}) {
    EXPECT_FALSE(resumed.Restore(*ParseJson(bad)).ok()) << bad;
  }
}

}  // namespace
}  // namespace hone
