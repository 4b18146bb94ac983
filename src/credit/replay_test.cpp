#include "credit/replay.h"

#include <gtest/gtest.h>

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

void Add(ReplayBuffer* buffer, const std::shared_ptr<const ScoredTree>& record, int64_t step) {
  buffer->Add(record, *AssignCredit(*NewMethod("dr-grpo"), *record), step);
}

TEST(Replay, KeepsGoodTrajectoriesThatCalled) {
  ReplayBuffer buffer({.capacity = 2});
  EXPECT_FALSE(buffer.Median().has_value());
  EXPECT_TRUE(buffer.Take(0, Rng(1)).empty()) << "no baseline yet: nothing is replayed";
  Add(&buffer, Record(), 0);
  EXPECT_EQ(buffer.size(), 1u);
  EXPECT_FALSE(buffer.Ready());
  for (int i = 0; i < 3; ++i) Add(&buffer, Record(), 1);
  EXPECT_TRUE(buffer.Ready());
  EXPECT_NEAR(buffer.Median()->mean, 2.0 / 3, 1e-12);
  const auto replayed = buffer.Take(5, Rng(1));
  ASSERT_EQ(replayed.size(), 2u);
  EXPECT_EQ(replayed[0].leaf, 0);
  EXPECT_NEAR(replayed[0].advantage, 1.0 / 3, 1e-12);
  EXPECT_EQ(buffer.size(), 0u);
}

TEST(Replay, WhatIsOldOrNoLongerGoodIsNotReplayed) {
  ReplayBuffer buffer({.capacity = 8, .tolerated_steps = 3});
  Add(&buffer, Record(), 0);
  EXPECT_TRUE(buffer.Take(4, Rng(1)).empty());
  Add(&buffer, Record("0.5"), 5);
  for (int i = 0; i < 5; ++i) Add(&buffer, Record("9"), 5);  // groups earn far more now
  for (const auto& one : buffer.Take(5, Rng(1))) {
    EXPECT_GT(one.advantage, 0);
    EXPECT_EQ(one.record->scores[0].terms[0].value, 9);
  }
}

}  // namespace
}  // namespace hone
