#include "learn/running/reward_scale.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// One record whose leaves have these values of the term.
std::vector<ScoredTree> RecordsWith(const std::string& term, const std::vector<double>& values) {
  std::vector<ScoredTree> records(1);
  for (size_t i = 0; i < values.size(); ++i) {
    records[0].scores.push_back({static_cast<int32_t>(i), {{term, values[i], 2.0}}});
  }
  return records;
}

std::vector<double> ValuesIn(const std::vector<ScoredTree>& records) {
  std::vector<double> values;
  for (const Score& score : records[0].scores) {
    for (const RewardTerm& term : score.terms) values.push_back(term.value.value_or(-99));
  }
  return values;
}

void ExpectNear(const std::vector<double>& values, const std::vector<double>& wanted) {
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-6) << i;
}

// The numbers are those of TRL's PPOTrainer.step (0.11) for the scores 1, 2, 4 and then 10, -3: its
// running deviations are 1.5275252 and then 4.7644517, its means 2.3333333 and then 2.8.
TEST(RewardScale, DividesByTheRunningDeviationAsTrlDoes) {
  RewardScale scale({.scale = true});
  std::vector<ScoredTree> first = RecordsWith("outcome", {1, 2, 4});
  scale.Apply(&first);
  ExpectNear(ValuesIn(first), {0.6546537, 1.3093073, 2.6186147});
  EXPECT_EQ(first[0].scores[0].terms[0].weight, 2.0) << "weights are as they were";
  std::vector<ScoredTree> second = RecordsWith("outcome", {10, -3});
  scale.Apply(&second);
  ExpectNear(ValuesIn(second), {2.0988774, -0.6296632});
  EXPECT_NEAR(scale.Deviations().at("outcome"), 4.7644517, 1e-6);
}

TEST(RewardScale, TakesTheMeanOffAndClipsAsTrlDoes) {
  RewardScale scale({.scale = true, .centre = true, .clip = 1});
  std::vector<ScoredTree> first = RecordsWith("outcome", {1, 2, 4});
  scale.Apply(&first);
  ExpectNear(ValuesIn(first), {-0.8728716, -0.2182179, 1});
  std::vector<ScoredTree> second = RecordsWith("outcome", {10, -3});
  scale.Apply(&second);
  ExpectNear(ValuesIn(second), {1, -1});
}

TEST(RewardScale, TermsHaveTheirOwnMoments) {
  RewardScale scale({.scale = true, .terms = {"call", "outcome"}});
  std::vector<ScoredTree> records = RecordsWith("outcome", {0, 10});
  records[0].scores[0].terms.push_back({"call", 1.0});
  records[0].scores[1].terms.push_back({"call", -1.0});
  records[0].scores[1].terms.push_back({"length", -30.0});
  records[0].scores[1].terms.push_back({"call", std::nullopt});
  scale.Apply(&records);
  ExpectNear(ValuesIn(records), {0, 0.7071068, 1.4142136, -0.7071068, -30, -99});
}

TEST(RewardScale, WhatIsOffChangesNothing) {
  RewardScale scale({});
  std::vector<ScoredTree> records = RecordsWith("outcome", {0, 10});
  scale.Apply(&records);
  EXPECT_EQ(ValuesIn(records), (std::vector<double>{0, 10}));
  EXPECT_EQ(scale.ToJson(), Json(Json::Object()));
}

TEST(RewardScale, GoesOnAsIfNothingHadHappened) {
  RewardScale one({.scale = true}), other({.scale = true});
  std::vector<ScoredTree> first = RecordsWith("outcome", {0.1, 0.7, 3});
  one.Apply(&first);
  ASSERT_TRUE(other.Restore(ParseJson(DumpJson(one.ToJson())).value()).ok());
  std::vector<ScoredTree> a = RecordsWith("outcome", {2, 5}), b = a;
  one.Apply(&a);
  other.Apply(&b);
  EXPECT_EQ(ValuesIn(a), ValuesIn(b));
  EXPECT_FALSE(other.Restore(Json::Of({{"outcome", 1}})).ok());
}

}  // namespace
}  // namespace hone
