#include "rewards/compose.h"

#include <gtest/gtest.h>

#include "support/tree_maker.h"

namespace hone {
namespace {

Result<std::unique_ptr<Rewarder>> Made(const char* json) {
  return RewarderFromJson(*ParseJson(json));
}

TreeMaker RightAndWrong() {
  TreeMaker maker;
  maker.tree.task.answer = "x";
  maker.Begin().Call("f").Answer("x");
  maker.Begin().Call("f").Answer("y");
  return maker;
}

std::vector<Score> Scored(const char* json, const TreeMaker& maker, int64_t step = 0) {
  auto rewarder = Made(json);
  EXPECT_TRUE(rewarder.ok()) << (rewarder.ok() ? "" : rewarder.error().message());
  return (*rewarder)->ScoreTree(maker.tree, {.step = step}).value();
}

TEST(Compose, ASumHasTheTermsOfItsParts) {
  const auto scores = Scored(R"({"sum": ["outcome", {"costs": {"per_call": 0.25}, "weight": 2}]})",
                             RightAndWrong());
  EXPECT_EQ(Total(scores[0]), 0.5);
  EXPECT_EQ(Total(scores[1]), -0.5);
}

TEST(Compose, WhatThoughtsPayStandsBesideTheOutcome) {
  TreeMaker maker = RightAndWrong();
  maker.tree.nodes[3].thoughts = {{0, 4}};  // of the one that is right
  const auto scores = Scored(
      R"({"sum": ["outcome", {"thoughts": {"most": 4, "buffer": 2}, "weight": 0.5}]})", maker);
  EXPECT_EQ(Total(scores[0]), 0.5);
  EXPECT_EQ(Total(scores[1]), 0);
}

TEST(Compose, AGateLetsCostsCountOnlyWhereTheAnswerIsRight) {
  const char* gated = R"({"sum": ["outcome",
      {"costs": {"per_call": 0.25}, "gate": {"term": "outcome", "at_least": 1}}]})";
  const auto scores = Scored(gated, RightAndWrong());
  EXPECT_EQ(Total(scores[0]), 0.75);
  EXPECT_EQ(Total(scores[1]), 0);
  TreeMaker unknown = RightAndWrong();
  unknown.tree.task.answer = Json();
  EXPECT_EQ(Total(Scored(gated, unknown)[0]), std::nullopt) << "no gold: nothing is scored";
}

TEST(Compose, WeightsChangeWithTheStep) {
  const char* annealed = R"({"preset": "outcome",
      "weight": {"from": 1, "to": 0, "steps": 200, "shape": "cosine"}})";
  EXPECT_NEAR(*Total(Scored(annealed, RightAndWrong(), 50)[0]), 0.853553, 1e-6);
  EXPECT_EQ(*Total(Scored(annealed, RightAndWrong(), 250)[0]), 0);
}

TEST(Compose, TermsCanBePickedAndSumsNested) {
  const auto scores = Scored(R"({"sum": [
      {"preset": "default", "terms": ["outcome"], "weight": 0.1},
      {"sum": ["search-r1"], "weight": 3}]})",
                             RightAndWrong());
  ASSERT_EQ(scores[0].terms.size(), 2u);
  EXPECT_DOUBLE_EQ(*Total(scores[0]), 4);
}

TEST(Compose, AFaultOfAPartStaysAFaultOfTheSum) {
  TreeMaker maker = RightAndWrong();
  const auto scores = Scored(R"({"sum": ["outcome",
      {"command": ["sh", "-c", "read line; exit 3"], "term": "mine"}]})",
                             maker);
  ASSERT_EQ(scores[0].terms.size(), 2u);
  EXPECT_EQ(scores[0].terms[1].name, "mine");
  EXPECT_EQ(scores[0].terms[1].fault->blame, Blame::kJudge);
}

TEST(Compose, MistakesAreNamed) {
  const auto message = [](const char* json) {
    const auto made = Made(json);
    return made.ok() ? std::string() : made.error().message();
  };
  EXPECT_NE(message("\"outcom\"").find("did you mean \"outcome\""), std::string::npos);
  EXPECT_NE(message(R"({"sum": ["outcome", {"preset": "x"}]})").find("reward.sum[1]"),
            std::string::npos);
  EXPECT_NE(message(R"({"preset": "outcome", "costs": {}})").find("exactly one"),
            std::string::npos);
  EXPECT_NE(message(R"({"preset": "outcome", "wieght": 1})").find("weight"), std::string::npos);
  EXPECT_NE(message(R"({"preset": "outcome", "weight": "x"})").find("reward.weight"),
            std::string::npos);
  EXPECT_NE(message(R"({"command": ["true"], "deadline_ms": 0})").find("deadline_ms"),
            std::string::npos);
  EXPECT_NE(message(R"({"sum": []})").find("list"), std::string::npos);
  EXPECT_NE(message("5").find("reward"), std::string::npos);
}

// The worked examples of docs/rewards.md, with other pays and weights.
TEST(Compose, TheDefaultRewardPaysWhatItIsTold) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(R"({"tool_needed": true, "calls": [
      {"name": "weather", "arguments": {"city": "Paris"}}]})");
  maker.tree.task.answer = "Sunny";
  maker.Begin().Call("traffic", R"({"city": "Paris"})").Answer("Heavy");
  maker.Begin().Call("weather", R"({"city": "Paris"})").Answer("Sunny");
  const char* usual = R"({"preset": "default", "components": {}})";
  EXPECT_EQ(Total(Scored(usual, maker)[0]), 0.5);
  EXPECT_EQ(Total(Scored(usual, maker)[1]), 14.5);
  const char* other = R"({"preset": "default", "components":
      {"outcome": [8, 1], "which": [2, 0.25], "called": [1.5, 0.2], "weights": ["outcome=0.5"]}})";
  EXPECT_EQ(Total(Scored(other, maker)[0]), 1.5 - 0.25 + 0.5 + 0 - 0.5 * 1);
  EXPECT_EQ(Total(Scored(other, maker)[1]), 1.5 + 2 + 1 + 1 + 0.5 * 8);
}

}  // namespace
}  // namespace hone
