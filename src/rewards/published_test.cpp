#include "rewards/published.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

Call MakeCall(const char* name, const char* arguments) { return {name, *ParseJson(arguments), {}}; }

GoldCall Gold(const char* name, const char* arguments) {
  GoldCall gold;
  gold.name = name;
  gold.arguments = *ParseJson(arguments);
  return gold;
}

// qiancheng0/ToolRL gives 1.714 (6 * score / most - 3 with a score of 11/2 of 7): a prediction of
// the right name that fits in nothing is not used up, and the exact one behind it is found.
TEST(Published, ToolRlUsesNothingUpAtScoreZero) {
  const Json both = *ParseJson(R"({"q":"x","r":"y"})"), one = *ParseJson(R"({"q":"x"})");
  const std::vector<GoldCall> gold = {{"a", both}, {"b", Json::Object()}, {"b", one}};
  const Call empty{"a", Json::Object(), {}}, exact{"a", both, {}}, b{"b", one, {}};
  EXPECT_NEAR(ToolRl({&empty, &exact, &b}, gold).correctness, 1.7142857, 1e-6);
}

TEST(Published, ToolRl) {
  const std::vector<GoldCall> gold = {Gold("search", R"({"q": "x", "k": 3})"),
                                      Gold("calc", R"({"e": "1+1"})")};
  const Call partly = MakeCall("search", R"({"q": "x", "k": 5})");
  const ToolRlScore score = ToolRl({&partly}, gold);
  EXPECT_NEAR(score.score, 2.5, 1e-12);
  EXPECT_NEAR(score.most, 6, 1e-12);
  EXPECT_NEAR(score.correctness, -0.5, 1e-12);
  const Call first = MakeCall("search", R"({"k": 3, "q": "x"})"),
             second = MakeCall("calc", R"({"e": "1+1"})");
  EXPECT_NEAR(ToolRl({&first, &second}, gold).correctness, 3, 1e-12);
  EXPECT_NEAR(ToolRl({}, gold).correctness, -3, 1e-12);
  EXPECT_EQ(ToolRl({&first}, {}).correctness, 0);
  // Extra calls lower only the names.
  EXPECT_NEAR(ToolRl({&first, &second, &first}, gold).score, 6 - 1.0 / 3, 1e-12);
}

TEST(Published, OverlongOfDapoAndTapo) {
  EXPECT_NEAR(Overlong(16000, 20480, 4096), 0, 1e-12);
  EXPECT_NEAR(Overlong(18432, 20480, 4096), -0.5, 1e-12);
  EXPECT_NEAR(Overlong(20480, 20480, 4096), -1, 1e-12);
  EXPECT_NEAR(Overlong(1536, 2048, 1024), -0.5, 1e-12);
}

TEST(Published, ReToolShaped) {
  EXPECT_EQ(ReToolShaped(1, 8), 1);
  EXPECT_DOUBLE_EQ(ReToolShaped(-1, 2), -1);
  EXPECT_DOUBLE_EQ(ReToolShaped(-1, 6), -0.8);
  EXPECT_DOUBLE_EQ(ReToolShaped(-1, 60), -0.6);
}

TEST(Published, TapoGradesByTheKindOfQuestion) {
  const auto score = [](AnswerKind kind, const char* answer, const char* gold,
                        double relative = 0) {
    return TapoScore(kind, answer, *ParseJson(gold), relative).value();
  };
  EXPECT_EQ(score(AnswerKind::kMath, "Twelve", "\"12\""), 1);
  EXPECT_EQ(score(AnswerKind::kMath, "1,200", "1200"), 1);
  EXPECT_EQ(score(AnswerKind::kQaF1, "in New York City", "\"new york\""), 1);
  EXPECT_DOUBLE_EQ(score(AnswerKind::kQaF1, "kitten", "\"sitting\""), 1 - 3.0 / 7);
  EXPECT_EQ(score(AnswerKind::kQaF1, "abc", "\"xyz\""), 0);
  EXPECT_EQ(score(AnswerKind::kNumber, "3.1419", "3.1415"), 1);
  EXPECT_EQ(score(AnswerKind::kNumber, "3.2", "3.1415"), 0);
  EXPECT_EQ(score(AnswerKind::kNumber, "3.2", "3.1415", 0.05), 1);
  EXPECT_EQ(score(AnswerKind::kQaF1, "b", R"(["a", "b"])"), 1);
  const std::string late = "Paris" + std::string(100, '.');
  EXPECT_EQ(score(AnswerKind::kQaF1, late.c_str(), "\"Paris\""), 0);
  EXPECT_FALSE(TapoScore(AnswerKind::kMath, "x", Json(), 0).ok());
}

TEST(Published, PreferencesWeighWhatDiffersInTheGroup) {
  const std::vector<std::map<std::string, double>> group = {{{"accuracy", 1}, {"cost", -2}},
                                                            {{"accuracy", 1}, {"cost", -4}},
                                                            {{"accuracy", 1}, {"cost", -3}}};
  EXPECT_EQ(PreferenceWeighted(group, {{"accuracy", 1}, {"cost", 0.5}}),
            (std::vector<double>{0.5, 0, 0.25}));
  EXPECT_TRUE(PreferenceWeighted({}, {{"cost", 1}}).empty());
}

TEST(Published, AdaReasonerCalls) {
  EXPECT_EQ(AdaReasonerCall(false, 1), 1);
  EXPECT_EQ(AdaReasonerCall(true, 0), 2);
  EXPECT_EQ(AdaReasonerCall(true, 0.5), 3);
  EXPECT_EQ(AdaReasonerCall(true, 9), 4);
}

}  // namespace
}  // namespace hone
