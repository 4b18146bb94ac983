#include "credit/reward_values.h"

#include <gtest/gtest.h>

#include "support/credit_groups.h"

namespace hone {
namespace {

std::vector<std::optional<double>> Sums(const std::string& json, const Selection& selection) {
  const ShortGroup made = GroupFrom(json);
  const Group group = *GroupOf(made.record);
  std::vector<std::optional<double>> sums;
  for (const auto& units : TrajectorySums(group, selection)) sums.push_back(units[0]);
  return sums;
}

const Selection kCalls{{"call"}, {}}, kAll{{"*"}, {}}, kOutcome{{"outcome"}, {}};

TEST(RewardValues, SelectionsKnowStarsAndPrefixes) {
  EXPECT_TRUE(kAll.Has("anything"));
  EXPECT_TRUE((Selection{{"criterion:*"}, {}}).Has("criterion:7"));
  EXPECT_FALSE((Selection{{"criterion:*"}, {}}).Has("outcome"));
  EXPECT_FALSE((Selection{{"*"}, {"call"}}).Has("call"));
}

TEST(RewardValues, AbsentIsNotZero) {
  EXPECT_EQ(Sums(GroupOfPlain({"1", "null", "0"}), kOutcome),
            (std::vector<std::optional<double>>{1, std::nullopt, 0}));
}

TEST(RewardValues, NoCallsMadeIsASumOfZeroButAnUnscoredCallIsNot) {
  EXPECT_EQ(Sums(R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":4,"calls":[{"begin":0,"end":1,"terms":{"call":1}},
                                                           {"begin":2,"end":3,"terms":{"call":1}}]}]},
      {"terms":{"outcome":0},"turns":[{"tokens":4}]},
      {"terms":{"outcome":0},"turns":[{"tokens":4,"calls":[{"begin":0,"end":1,"terms":{"call":1}},
                                                           {"begin":2,"end":3,"terms":{"call":null}}]}]},
      {"turns":[{"tokens":4}]}]})",
                 kCalls),
            (std::vector<std::optional<double>>{2, 0, std::nullopt, std::nullopt}));
}

TEST(RewardValues, ANameThatNobodyHasAValueForIsNoPartOfTheReward) {
  EXPECT_EQ(Sums(R"({"group":[{"terms":{"outcome":1,"preference":null},"turns":[{"tokens":1}]},
                              {"terms":{"outcome":0,"preference":null},"turns":[{"tokens":1}]}]})",
                 kAll),
            (std::vector<std::optional<double>>{1, 0}));
  EXPECT_EQ(Sums(R"({"group":[{"terms":{"outcome":1,"preference":2},"turns":[{"tokens":1}]},
                              {"terms":{"outcome":0,"preference":null},"turns":[{"tokens":1}]},
                              {"terms":{"outcome":0},"turns":[{"tokens":1}]}]})",
                 kAll),
            (std::vector<std::optional<double>>{3, std::nullopt, std::nullopt}))
      << "sums of different things are not compared";
}

// What is cut off in the middle of a call has its outcome on a turn with one action. It is still
// the trajectory's: nobody else's calls must have an outcome of their own because of it.
TEST(RewardValues, AnOutcomeOnACutOffCallIsTheTrajectorys) {
  ShortGroup made = GroupFrom(R"({"group":[
      {"terms":{"outcome":1},"turns":[{"tokens":4,"calls":[{"begin":0,"end":3}]},{"tokens":2}]},
      {"terms":{"outcome":0},"turns":[{"tokens":4,"calls":[{"begin":0,"end":3}]},
                                      {"tokens":9,"calls":[{"begin":0,"end":9}]}]}]})");
  Tree& tree = made.record.tree;
  for (Score& score : made.record.scores) score.terms[0].node = tree.leaves[score.leaf].node;
  const Group group = *GroupOf(made.record);
  EXPECT_EQ(PlaceOf(made.record.scores[1].terms[0], group.trajectories[1]).action, 1);
  const UnitValues sums = TrajectorySums(group, kOutcome);
  EXPECT_EQ(sums[0][0], 1);
  EXPECT_EQ(sums[1][0], 0);
}

TEST(RewardValues, WeightsCount) {
  ShortGroup made = GroupFrom(GroupOfPlain({"1"}));
  made.record.scores[0].terms[0].weight = 10;
  EXPECT_EQ(TrajectorySums(*GroupOf(made.record), kOutcome)[0][0], 10);
  EXPECT_EQ(IsCorrect(GroupOf(made.record)->trajectories[0], kOutcome, 0.5), true);
}

TEST(RewardValues, TurnsAndActionsGetTheirOwn) {
  const ShortGroup made = GroupFrom(R"({"group":[{"terms":{"outcome":5},"turns":[
      {"tokens":3,"calls":[{"begin":0,"end":2,"terms":{"call":1,"which":0.5}}]},
      {"author":"tool","tokens":1},{"tokens":2,"calls":[{"begin":0,"end":1}]}]}]})");
  const Group group = *GroupOf(made.record);
  EXPECT_EQ(ActionSums(group, kAll)[0], (std::vector<std::optional<double>>{1.5, std::nullopt}));
  EXPECT_EQ(TurnSums(group, kOutcome)[0], (std::vector<std::optional<double>>{0, 5}));
}

TEST(RewardValues, WithoutAnOutcomeNothingElseIsReadInstead) {
  const ShortGroup made =
      GroupFrom(R"({"group":[{"terms":{"correct":2,"call":7},"turns":[{"tokens":1}]}]})");
  EXPECT_EQ(TrajectorySums(*GroupOf(made.record), kOutcome)[0][0], std::nullopt);
}

}  // namespace
}  // namespace hone
