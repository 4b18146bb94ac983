#include "rewards/matching/call_match.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Call MakeCall(const char* name, const char* arguments = "{}") {
  return {name, *ParseJson(arguments), {}};
}

GoldCall Gold(const char* name, const char* arguments = "{}") {
  GoldCall gold;
  gold.name = name;
  gold.arguments = *ParseJson(arguments);
  return gold;
}

CallScore Scored(const std::vector<Call>& calls, const GoldCalls& gold) {
  std::vector<const Call*> pointers;
  for (const Call& call : calls) pointers.push_back(&call);
  return ScoreCalls(pointers, gold);
}

TEST(CallMatch, TheRightCallsScoreOneInAnyOrder) {
  const GoldCalls gold{{Gold("a", "{\"x\": 1}"), Gold("b")}, CallOrder::kAny};
  const CallScore score = Scored({MakeCall("b"), MakeCall("a", "{\"x\": 1.0}")}, gold);
  EXPECT_DOUBLE_EQ(score.f1, 1);
  EXPECT_EQ(score.gold_of, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(score.order, std::nullopt);
}

TEST(CallMatch, TwoExpectedAndTwentyJunkCallsScoreUnderAFifth) {
  const GoldCalls gold{{Gold("a", "{\"x\": 1}"), Gold("b")}, CallOrder::kAny};
  std::vector<Call> calls = {MakeCall("a", "{\"x\": 1}"), MakeCall("b")};
  for (int i = 0; i < 20; ++i) calls.push_back(MakeCall(i % 2 == 0 ? "a" : "junk"));
  const CallScore score = Scored(calls, gold);
  EXPECT_DOUBLE_EQ(score.f1, 4.0 / 24);
  EXPECT_LT(score.f1, 0.2);
  EXPECT_DOUBLE_EQ(score.recall, 1);
}

TEST(CallMatch, OfEqualCallsTheFirstIsTheRightOne) {
  const GoldCalls gold{{Gold("a", "{\"x\": 1}")}, CallOrder::kAny};
  const Call call = MakeCall("a", "{\"x\": 1}");
  EXPECT_EQ(Scored({call, call, call}, gold).gold_of, (std::vector<int32_t>{0, -1, -1}));
}

TEST(CallMatch, TheMatchingIsTheBestNotTheFirst) {
  const GoldCalls gold{{Gold("a", "{\"x\": 1, \"y\": 1}"), Gold("a", "{\"x\": 1, \"y\": 50}")},
                       CallOrder::kAny};
  const CallScore score =
      Scored({MakeCall("a", "{\"x\": 1, \"y\": 50}"), MakeCall("a", "{\"x\": 1, \"y\": 1}")}, gold);
  EXPECT_EQ(score.gold_of, (std::vector<int32_t>{1, 0}));
  EXPECT_DOUBLE_EQ(score.f1, 1);
}

TEST(CallMatch, ArgumentsCountParametersOfBothSides) {
  const GoldCall gold = Gold("f", "{\"city\": \"Paris\", \"days\": 10}");
  EXPECT_DOUBLE_EQ(ArgumentScore(*ParseJson("{\"city\": \"paris\", \"days\": 10}"), gold), 1);
  EXPECT_DOUBLE_EQ(ArgumentScore(*ParseJson("{\"city\": \"Paris\"}"), gold), 0.5);
  EXPECT_DOUBLE_EQ(ArgumentScore(*ParseJson("{\"city\": \"Paris\", \"days\": 9}"), gold), 0.95);
  EXPECT_DOUBLE_EQ(ArgumentScore(*ParseJson("{\"city\": \"Paris\", \"days\": 10, \"z\": 0}"), gold),
                   2.0 / 3);
}

TEST(CallMatch, OptionalAndAcceptedValues) {
  GoldCall gold = Gold("f", "{\"city\": \"Paris\", \"unit\": \"C\"}");
  gold.optional = {"unit", "lang"};
  gold.accepted["city"] = {Json("Paris, FR")};
  EXPECT_TRUE(IsRightCall(MakeCall("f", "{\"city\": \"Paris, FR\"}"), gold));
  EXPECT_TRUE(IsRightCall(MakeCall("f", "{\"city\": \"Paris\", \"lang\": \"en\"}"), gold));
  EXPECT_FALSE(IsRightCall(MakeCall("f", "{\"city\": \"Paris\", \"unit\": \"F\"}"), gold));
  EXPECT_FALSE(IsRightCall(MakeCall("f", "{\"city\": \"Rome\"}"), gold));
  EXPECT_FALSE(IsRightCall(MakeCall("g", "{\"city\": \"Paris\"}"), gold));
  gold.arguments.reset();
  EXPECT_TRUE(IsRightCall(MakeCall("f", "{\"anything\": 1}"), gold));
}

TEST(CallMatch, NamesAlone) {
  const GoldCalls gold{{Gold("a", "{\"x\": 1}"), Gold("b")}, CallOrder::kAny};
  const CallScore score = Scored({MakeCall("a", "{\"x\": 100}"), MakeCall("c")}, gold);
  EXPECT_DOUBLE_EQ(score.name_f1, 0.5);
  EXPECT_DOUBLE_EQ(score.f1, 0.25);
}

TEST(CallMatch, ParametersAndValues) {
  const GoldCalls gold{{Gold("a", "{\"x\": 1, \"y\": 2}"), Gold("b", "{\"z\": 3}")},
                       CallOrder::kAny};
  const CallScore score =
      Scored({MakeCall("a", "{\"x\": 1, \"y\": 5}"), MakeCall("c", "{\"z\": 3}")}, gold);
  EXPECT_DOUBLE_EQ(score.parameter_f1, 2.0 * 2 / 6);
  EXPECT_DOUBLE_EQ(score.value_f1, 2.0 * 1 / 6);
  EXPECT_DOUBLE_EQ(Scored({}, {}).parameter_f1, 1);
}

TEST(CallMatch, NoCallsWhereNoneAreWanted) {
  EXPECT_DOUBLE_EQ(Scored({}, {}).f1, 1);
  EXPECT_DOUBLE_EQ(Scored({MakeCall("a")}, {}).f1, 0);
  EXPECT_DOUBLE_EQ(Scored({}, {{Gold("a")}, CallOrder::kAny}).f1, 0);
}

TEST(CallMatch, ASequenceIsScoredByItsLongestOrderedPart) {
  const GoldCalls gold{{Gold("a"), Gold("b"), Gold("c")}, CallOrder::kSequence};
  EXPECT_EQ(Scored({MakeCall("a"), MakeCall("junk"), MakeCall("b"), MakeCall("c")}, gold).order, 1);
  EXPECT_EQ(Scored({MakeCall("c"), MakeCall("a"), MakeCall("b")}, gold).order, 2.0 / 3);
  EXPECT_EQ(Scored({MakeCall("b")}, gold).order, 1);
  EXPECT_EQ(Scored({}, gold).order, 1);
}

TEST(CallMatch, AGraphIsScoredByTheEdgesRespected) {
  GoldCalls gold{{Gold("a"), Gold("b"), Gold("c")}, CallOrder::kGraph};
  gold.calls[2].after = {0, 1};
  EXPECT_EQ(Scored({MakeCall("b"), MakeCall("a"), MakeCall("c")}, gold).order, 1);
  EXPECT_EQ(Scored({MakeCall("a"), MakeCall("c"), MakeCall("b")}, gold).order, 0.5);
  EXPECT_EQ(Scored({MakeCall("c")}, gold).order, 1) << "what was not called was not out of order";
}

TEST(CallMatch, AnExpertIsFollowedStepByStep) {
  const Call first = MakeCall("a", "{\"x\": 1}"), second = MakeCall("c");
  const std::vector<GoldCall> expert = {Gold("a", "{\"x\": 1}"), Gold("b")};
  EXPECT_EQ(ExpertSimilarity({&first, &second, &first}, expert), (std::vector<double>{1, 0, 0}));
}

}  // namespace
}  // namespace hone
