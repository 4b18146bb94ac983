#include "rewards/published_rewarders.h"

#include <gtest/gtest.h>

#include "record/validate.h"
#include "rewards/presets.h"
#include "support/tree_maker.h"

namespace hone {
namespace {

std::vector<Score> Scored(const char* preset, const TreeMaker& maker) {
  auto scores = NewPreset(preset).value()->ScoreTree(maker.tree, {});
  EXPECT_TRUE(scores.ok()) << (scores.ok() ? "" : scores.error().message());
  if (!scores.ok()) return {};
  EXPECT_EQ(Validate({maker.tree, *scores, {}}), std::vector<std::string>());
  return *scores;
}

std::optional<double> Value(const Score& score, std::string_view name) {
  for (const RewardTerm& term : score.terms) {
    if (term.name == name) return term.value;
  }
  return std::nullopt;
}

TreeMaker Labelled(const char* reward, Json answer = Json()) {
  TreeMaker maker;
  maker.tree.task.reward = *ParseJson(reward);
  maker.tree.task.answer = std::move(answer);
  return maker;
}

constexpr char kTwoCalls[] = R"({"calls": [{"name": "a", "arguments": {"x": 1}},
                                           {"name": "b", "arguments": {}}]})";

TEST(PublishedRewarders, JunkCallsDoNotPay) {
  TreeMaker maker = Labelled(kTwoCalls);
  maker.Begin().Call("a", R"({"x": 1})").Call("b");
  for (int i = 0; i < 20; ++i) maker.Call("junk");
  maker.Answer("x");
  maker.Begin().Call("a", R"({"x": 1})").Call("b").Answer("x");
  const auto scores = Scored("call-f1", maker);
  EXPECT_NEAR(*Total(scores[0]), 4.0 / 24, 1e-12);
  EXPECT_LT(*Total(scores[0]), 0.2);
  EXPECT_DOUBLE_EQ(*Total(scores[1]), 1);
  EXPECT_EQ(scores[0].terms[0].node, 1) << "each call's part is on the call";
  EXPECT_EQ(scores[0].terms[2].value, 0);
}

TEST(PublishedRewarders, TheOrderOfCallsCounts) {
  TreeMaker maker = Labelled(R"({"order": "sequence", "calls": [{"name": "a"}, {"name": "b"}]})");
  maker.Begin().Call("a").Call("b").Answer("x");
  maker.Begin().Call("b").Call("a").Answer("x");
  maker.Begin().Answer("x");
  const auto scores = Scored("call-f1", maker);
  EXPECT_EQ(Total(scores[0]), 1);
  EXPECT_EQ(Total(scores[1]), 0.5);
  EXPECT_EQ(Total(scores[2]), 0);
}

TEST(PublishedRewarders, AGoldAnswerThatAToolQuotedEarnsNothing) {
  for (const Preset& preset : BuiltInPresets()) {
    if (preset.labels != std::vector<std::string>{"answer"}) continue;
    TreeMaker maker = Labelled(R"({"answer": "exact"})", "42");
    maker.Begin().Call("f", "{}", CallStatus::kOk, "42").Answer("7");
    maker.Begin().Call("f", "{}", CallStatus::kOk, "7").Answer("7");
    const auto scores = Scored(preset.name.c_str(), maker);
    EXPECT_EQ(Total(scores[0]), Total(scores[1])) << preset.name;
    for (const RewardTerm& term : scores[0].terms) {
      if (term.name != "outcome") continue;
      EXPECT_LE(*term.value, 0) << preset.name;
    }
  }
}

TEST(PublishedRewarders, StepsAreComparedWithTheExperts) {
  TreeMaker maker = Labelled(kTwoCalls, "sitting");
  maker.Begin().Call("a", R"({"x": 1})").Call("c").Answer("kitten");
  const auto scores = Scored("expert", maker);
  EXPECT_EQ(scores[0].terms[0].value, 1);
  EXPECT_EQ(scores[0].terms[1].value, 0);
  EXPECT_DOUBLE_EQ(*scores[0].terms[2].value, 1 - 3.0 / 7);
}

TEST(PublishedRewarders, ToolPo) {
  TreeMaker maker = Labelled(kTwoCalls, "x");
  maker.Begin().Call("a", R"({"x": 1})").Call("a", R"({"x": 1})").Answer("x");
  const auto scores = Scored("toolpo", maker);
  EXPECT_EQ(scores[0].terms[0].value, 1);
  EXPECT_EQ(scores[0].terms[1].value, 1);
  EXPECT_EQ(scores[0].terms[2].value, 0) << "the same call again is not right again";
  EXPECT_EQ(scores[0].terms.size(), 3u) << "nothing was folded";
}

TEST(PublishedRewarders, ToolPoPaysFoldingThatShortens) {
  TreeMaker maker = Labelled("null", "x");
  maker.Begin().Call("a").Call("a").Call("a").Answer("x");  // 3 + 3 * 14 + 5 = 50 tokens
  maker.Begin().Answer("x");
  // A second root takes over from the answerless first node of its own segment.
  Tree& tree = maker.tree;
  tree.leaves.pop_back();
  tree.nodes.push_back({kNoNode, Author::kUser, {1, 2}});
  tree.nodes.back().folded_from = static_cast<NodeId>(tree.nodes.size()) - 2;
  Node turn{static_cast<NodeId>(tree.nodes.size()) - 1, Author::kPolicy, {5, 5}};
  turn.logprobs = turn.entropies = {-1, -1};
  turn.entropies = {1, 1};
  tree.nodes.push_back(turn);
  tree.leaves.push_back({static_cast<NodeId>(tree.nodes.size()) - 1, Ending::kAnswered,
                         Blame::kNone, Json::Of({{"answer", "x"}})});
  const auto scores = Scored("toolpo", maker);
  EXPECT_EQ(Value(scores[0], "fold"), std::nullopt);
  EXPECT_DOUBLE_EQ(*Value(scores[1], "fold"), (50.0 - 12) / (50 + 12));
  tree.nodes[tree.nodes.size() - 2].rewritten = true;
  EXPECT_EQ(Value(Scored("toolpo", maker)[1], "fold"), std::nullopt) << "a template's doing";
}

TEST(PublishedRewarders, Desk) {
  TreeMaker maker = Labelled(kTwoCalls, "x");
  maker.Begin()
      .Call("a", R"({"x": 1})")
      .Call("a", R"({"x": 1})")
      .Call("c", "{}", CallStatus::kUnknownTool)
      .Fault()
      .Answer("X");
  const auto scores = Scored("desk", maker);
  std::vector<double> calls;
  for (const RewardTerm& term : scores[0].terms) {
    if (term.name == "call") calls.push_back(*term.value);
  }
  EXPECT_EQ(calls, (std::vector<double>{-0.5, 1, -0.25, -0.5}));
  EXPECT_EQ(Value(scores[0], "outcome"), 0);
}

TEST(PublishedRewarders, ToolRl) {
  TreeMaker maker = Labelled(R"({"calls": [{"name": "search", "arguments": {"q": "x", "k": 3}},
                                           {"name": "calc", "arguments": {"e": "1+1"}}]})");
  maker.Begin().Call("search", R"({"q": "x", "k": 5})").Answer("x");
  maker.Begin().Fault().Answer("x");
  const auto scores = Scored("toolrl", maker);
  EXPECT_NEAR(*Value(scores[0], "correctness"), -0.5, 1e-12);
  EXPECT_EQ(Value(scores[0], "format"), 1);
  EXPECT_EQ(Value(scores[1], "correctness"), -3);
  EXPECT_EQ(Value(scores[1], "format"), 0);
}

TEST(PublishedRewarders, SearchR1AndReTool) {
  TreeMaker maker = Labelled("null", "The Beatles");
  maker.Begin().Answer("beatles");
  maker.Begin().Answer("The Stones");
  EXPECT_EQ(Total(Scored("search-r1", maker)[0]), 1);
  EXPECT_EQ(Total(Scored("search-r1", maker)[1]), 0);
  TreeMaker math = Labelled("null", "\\frac{1}{2}");
  math.Begin().Answer("so \\boxed{0.5}");
  math.Begin().Call("code").Call("code").Answer("\\boxed{1}");
  EXPECT_EQ(Total(Scored("retool", math)[0]), 1);
  EXPECT_EQ(Total(Scored("retool", math)[1]), -1);
  EXPECT_DOUBLE_EQ(*Total(Scored("retool-turns", math)[1]), -0.8) << "six turns";
}

TEST(PublishedRewarders, ToRlChargesCodeThatDidNotRunOnce) {
  TreeMaker maker = Labelled("null", "1");
  maker.Begin()
      .Call("code", "{}", CallStatus::kToolError)
      .Call("code", "{}", CallStatus::kToolError)
      .Answer("1");
  EXPECT_EQ(Total(Scored("torl", maker)[0]), 0.5);
}

TEST(PublishedRewarders, ToolStar) {
  TreeMaker maker = Labelled("null", "New York");
  maker.Begin().Call("search").Call("python").Answer("new york");
  maker.Begin().Call("search").Call("python", "{}", CallStatus::kToolError).Answer("new york");
  maker.Begin().Call("search").Call("python").Answer("Rome");
  maker.Begin().Fault().Answer("New York");
  const auto scores = Scored("tool-star", maker);
  EXPECT_DOUBLE_EQ(*Total(scores[0]), 1.1);
  EXPECT_DOUBLE_EQ(*Total(scores[1]), 1);
  EXPECT_EQ(Total(scores[2]), 0);
  EXPECT_EQ(Total(scores[3]), -1);
}

TEST(PublishedRewarders, Tapo) {
  TreeMaker maker = Labelled(R"({"answer": "math"})", 12);
  maker.Begin().Answer("Twelve");
  maker.Begin().Answer("13");
  maker.Begin().Call("f").End(Ending::kTurnLimit);
  const auto scores = Scored("tapo", maker);
  EXPECT_EQ(Total(scores[0]), 1);
  EXPECT_EQ(Value(scores[0], "accuracy"), 1);
  EXPECT_EQ(Total(scores[1]), 0);
  EXPECT_EQ(Total(scores[2]), -1);
  EXPECT_EQ(Value(scores[2], "accuracy"), 0);
}

TEST(PublishedRewarders, Otc) {
  TreeMaker maker = Labelled("null", "1");
  maker.Begin().Call("f").Call("f").Answer("1");
  maker.Begin().Call("f").Call("f").Call("f").Answer("1");
  maker.Begin().Answer("2");
  const auto grouped = Scored("otc-grpo", maker);
  EXPECT_NEAR(*Total(grouped[0]), 1, 1e-12);
  EXPECT_NEAR(*Total(grouped[1]), 0.951057, 1e-5);
  EXPECT_EQ(Total(grouped[2]), 0) << "few calls do not make a wrong answer better";
  const auto alone = Scored("otc-ppo", maker);
  EXPECT_NEAR(*Total(alone[0]), 0.707107, 1e-5);
  EXPECT_NEAR(*Total(alone[1]), 0.587785, 1e-5);
}

TEST(PublishedRewarders, AdaReasoner) {
  TreeMaker maker = Labelled("null", "1");
  maker.Begin().Call("f").Answer("1");
  maker.Begin().Call("f").Call("g", "{}", CallStatus::kUnknownTool).Answer("2");
  maker.Begin().Fault().Answer("1");
  maker.Begin().Answer("2");
  const auto scores = Scored("adareasoner", maker);
  EXPECT_EQ(Total(scores[0]), 8);
  EXPECT_EQ(Total(scores[1]), (4 + 1) / 2.0);
  EXPECT_EQ(Total(scores[2]), 0);
  EXPECT_EQ(Total(scores[3]), 0);
}

TEST(PublishedRewarders, ToolOrchestra) {
  TreeMaker maker = Labelled(R"({"preferences": {"cost": 1, "calls.f": 0.5}})", "1");
  maker.tree.task.tools =
      *ParseJson(R"([{"name": "f", "parameters": {"type": "object"}, "x-hone": {"price": 0.02}}])");
  maker.Begin().Call("f").Call("f").Answer("1");
  maker.Begin().Call("f").Answer("1");
  maker.Begin().Answer("2");
  const auto scores = Scored("toolorchestra", maker);
  EXPECT_DOUBLE_EQ(*Total(scores[0]), 0.5);
  EXPECT_DOUBLE_EQ(*Total(scores[1]), 0.5 + 0.25);
  EXPECT_EQ(Total(scores[2]), 0);
  const auto cost = Scored("toolorchestra-cost", maker);
  EXPECT_DOUBLE_EQ(*Total(cost[0]), 1 - (5 * 0.04 + 2.0 / 500));
  EXPECT_EQ(Total(cost[2]), 0);
}

TEST(PublishedRewarders, MuaRl) {
  TreeMaker maker = Labelled(R"({"outputs": ["1200"]})");
  const auto end = [&](const char* state) {
    maker.Begin()
        .Call("f", "{}", CallStatus::kOk, "1200")
        .End(Ending::kUserStop, *ParseJson(state));
  };
  end(R"({"state_hash": "a", "gold_state_hash": "a", "messages": ["it is 1,200 in all"]})");
  end(R"({"state_hash": "a", "gold_state_hash": "a", "messages": ["no idea"]})");
  end(R"({"state_hash": "b", "gold_state_hash": "a", "messages": ["1200"]})");
  end(R"({"verdict": true})");
  end("null");
  const auto scores = Scored("mua-rl", maker);
  EXPECT_EQ(Total(scores[0]), 1);
  EXPECT_EQ(Total(scores[1]), 0) << "that a tool said it does not count";
  EXPECT_EQ(Total(scores[2]), 0);
  EXPECT_EQ(Total(scores[3]), 1);
  EXPECT_EQ(Total(scores[4]), std::nullopt);
}

TEST(PublishedRewarders, Tgrl) {
  TreeMaker maker = Labelled("null", "1");
  maker.Begin().Call("f").Answer("1");
  maker.Begin().Call("f", "{}", CallStatus::kToolError).Answer("1");
  maker.Begin().Call("f").Answer("2");
  maker.Begin().Call("f", "{}", CallStatus::kTimeout, "late", Blame::kTool).Call("f").Answer("1");
  const auto scores = Scored("tgrl", maker);
  EXPECT_EQ(Total(scores[0]), 1.5);
  EXPECT_EQ(Total(scores[1]), 1);
  EXPECT_EQ(Total(scores[2]), 0);
  EXPECT_EQ(Total(scores[3]), 1.5) << "nobody pays for a tool that is late";
}

}  // namespace
}  // namespace hone
