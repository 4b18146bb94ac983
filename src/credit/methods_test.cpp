#include "credit/methods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/credit_groups.h"
#include "support/page_blocks.h"

namespace hone {
namespace {

TEST(Methods, EveryNameMakesAMethodThatSaysWhatItIs) {
  std::set<std::string> seen;
  for (const MethodSummary& summary : ListMethods()) {
    EXPECT_TRUE(seen.insert(summary.name).second) << summary.name;
    EXPECT_FALSE(summary.about.empty()) << summary.name;
    EXPECT_FALSE(summary.needs.empty()) << summary.name;
    const Result<Method> method = NewMethod(summary.name);
    ASSERT_TRUE(method.ok());
    EXPECT_EQ(method->name, summary.name);
    EXPECT_FALSE(method->channels.empty() && method->estimators.empty());
    // Every setting with its default makes the same method.
    for (const std::string& setting : summary.settings) {
      const std::string value = setting.substr(setting.find('=') + 1);
      if (value.find('*') == std::string::npos) {
        EXPECT_TRUE(NewMethod(summary.name + ":" + setting).ok()) << setting;
      }
    }
  }
}

// Two trajectories without calls, the first of which folds: 4 tokens of the policy's and 2 of the
// memory against 10.
TEST(Methods, ToolpoPaysForFoldingWhereNobodyCalls) {
  ShortGroup group;
  Tree& tree = group.record.tree;
  tree.task.id = "t";
  const auto add = [&](NodeId parent, NodeId folded, Author author, size_t tokens) {
    Node node;
    node.parent = parent;
    node.folded_from = folded;
    node.author = author;
    node.tokens.assign(tokens, 1);
    if (author == Author::kPolicy) {
      node.logprobs.assign(tokens, 0);
      node.entropies.assign(tokens, 0);
    }
    tree.nodes.push_back(node);
  };
  add(kNoNode, kNoNode, Author::kUser, 3);
  add(0, kNoNode, Author::kPolicy, 2);
  add(kNoNode, 1, Author::kSystem, 2);
  add(2, kNoNode, Author::kPolicy, 2);
  add(0, kNoNode, Author::kPolicy, 10);
  for (const NodeId end : {3, 4}) {
    tree.leaves.push_back({end, Ending::kAnswered, Blame::kNone, {}});
    const auto leaf = static_cast<int32_t>(tree.leaves.size()) - 1;
    group.record.scores.push_back({leaf, {{.name = "outcome", .value = 1}}});
  }
  const double preference = (10.0 - 6) / (10 + 6);
  const Credit credit = CreditOf("toolpo", group);
  ExpectNear({credit.advantages[0].values.begin(), credit.advantages[0].values.end()},
             {preference / 2, preference / 2, 0, 0});
  for (const float value : credit.advantages[1].values) EXPECT_EQ(value, 0);
  EXPECT_FALSE(HasNote(credit, NoteKind::kUnscored));
}

// The method of docs/howto/add-a-method.md.
Method AboveTheBar(MethodOptions* options) {
  Method method;
  method.about = "outcome minus the setting `bar`";
  method.needs = "an outcome per trajectory";
  method.reads = {options->Names("terms", {"outcome"}), {}};
  Channel channel;
  channel.name = "bar";
  channel.normaliser.centre = Centre::kNone;
  channel.values = [reads = method.reads, bar = options->Number("bar", 0.5)](const Group& group) {
    UnitValues values = TrajectorySums(group, reads);
    for (auto& one : values) {
      if (one[0]) *one[0] -= bar;
    }
    return values;
  };
  method.channels = {std::move(channel)};
  return method;
}

TEST(Methods, OneMoreIsOneEntry) {
  std::vector<MethodEntry> table(BuiltInMethods().begin(), BuiltInMethods().end());
  table.push_back({"above-the-bar", AboveTheBar});
  const ShortGroup group = GroupFrom(GroupOfPlain({"1", "0"}));
  const Method method = NewMethod("above-the-bar:bar=0.25", table).value();
  EXPECT_EQ(method.name, "above-the-bar");
  const Credit credit = AssignCredit(method, group.record).value();
  EXPECT_EQ(Firsts(credit.advantages), (std::vector<double>{0.75, -0.25}));
  EXPECT_EQ(MethodNames(table).back(), "above-the-bar");
  EXPECT_EQ(ListMethods(table).back().settings,
            (std::vector<std::string>{"terms=outcome", "bar=0.5"}));
  EXPECT_NE(NewMethod("above-the-br", table).error().message().find("\"above-the-bar\""),
            std::string::npos);
  EXPECT_FALSE(NewMethod("above-the-bar").ok()) << "the built-in table has no such method";
  EXPECT_TRUE(NewMethodAt("spear", 7, table).ok());
}

TEST(Methods, TheHowtoShowsTheMethodThatIsTestedHere) {
  ExpectShowsCodeOf("docs/howto/add-a-method.md", "src/credit/methods_test.cpp");
}

TEST(Methods, UnknownNamesAndSettingsAreSaidWithTheNearest) {
  EXPECT_NE(NewMethod("toolpo-spilt").error().message().find("did you mean \"toolpo-split\""),
            std::string::npos);
  EXPECT_NE(NewMethod("gigpo:gama=1").error().message().find("did you mean \"gamma\""),
            std::string::npos);
  EXPECT_FALSE(NewMethod("gigpo:gamma=2").ok());
  EXPECT_FALSE(NewMethod("").ok());
}

TEST(Methods, ThoseThatChangeWithTheStepAreToldIt) {
  const char paid[] = R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":4,"calls":[{"begin":0,"end":2}]}]},
      {"terms":{"outcome":0},"turns":[{"tokens":2}]}]})";
  const ShortGroup group = ReadShortForm(*ParseJson(paid)).value();
  const auto at = [&](std::string_view spec, int64_t step) {
    return AssignCredit(NewMethodAt(spec, step).value(), group.record)->advantages[0].values[0];
  };
  EXPECT_NEAR(at("spear", 0), 0.05, 1e-6) << "a call is paid at first";
  EXPECT_NEAR(at("spear", 100), 0.025, 1e-6);
  EXPECT_NEAR(at("spear:horizon=50", 25), 0.025, 1e-6);
  EXPECT_EQ(at("spear", 200), 0);
  EXPECT_NEAR(at("spear:step=0", 200), 0.05, 1e-6) << "what is said counts";
  EXPECT_EQ(at("grpo", 7), 0);
  EXPECT_FALSE(NewMethodAt("spaer", 1).ok());
  EXPECT_TRUE(NewMethodAt("spear:horizon=50, step=3", 9).ok()) << "its step is written, not twice";
  EXPECT_TRUE(NewMethodAt("spear: horizon = 50", 9).ok());
}

const char kTwoCalls[] = R"({"group":[
    {"terms":{"outcome":1},"turns":[{"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":1}}]},
      {"author":"tool","tokens":1},{"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":0}}]}]},
    {"terms":{"outcome":0},"turns":[{"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":0}}]}]}]})";

TEST(ToolPoPerCall, BaselinesArePositionPooledOrNone) {
  auto call = [](const std::string& spec, size_t leaf, size_t token) {
    const Credit credit = CreditOf(spec, kTwoCalls, true);
    return credit.layers[1].advantages[leaf].values[token];
  };
  EXPECT_NEAR(call("toolpo-per-call", 0, 0), 0.5, 1e-6);
  EXPECT_NEAR(call("toolpo-per-call", 1, 0), -0.5, 1e-6);
  EXPECT_EQ(call("toolpo-per-call", 0, 4), 0) << "nobody else made a second call";
  EXPECT_NEAR(call("toolpo-per-call:baseline=pooled", 0, 0), 2.0 / 3, 1e-6);
  EXPECT_NEAR(call("toolpo-per-call:baseline=pooled", 0, 4), -1.0 / 3, 1e-6);
  EXPECT_NEAR(call("toolpo-per-call:baseline=none", 0, 0), 1, 1e-6);
}

// Turns of eight tokens: a thought, a stray token, a call, more; the second one thinks twice.
ShortGroup Thinking() {
  ShortGroup group = GroupFrom(R"({"group":[
      {"terms":{"outcome":1},"turns":[
        {"tokens":8,"calls":[{"begin":4,"end":6,"terms":{"call":1}}]},{"author":"tool","tokens":1},
        {"tokens":8,"calls":[{"begin":5,"end":7,"terms":{"call":0}}]},{"author":"tool","tokens":1},
        {"tokens":3}]},
      {"terms":{"outcome":0},"turns":[
        {"tokens":8,"calls":[{"begin":4,"end":6,"terms":{"call":0}}]},{"author":"tool","tokens":1},
        {"tokens":3}]}]})");
  std::vector<Node>& nodes = group.record.tree.nodes;
  std::vector<size_t> policy;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].author == Author::kPolicy) policy.push_back(i);
  }
  nodes[policy[0]].thoughts = {{0, 3}};
  nodes[policy[1]].thoughts = {{0, 2}, {2, 4}};
  nodes[policy[2]].thoughts = {{0, 1}};  // before no call
  nodes[policy[3]].thoughts = {{0, 3}};
  return group;
}

std::vector<float> CallLayer(const std::string& spec, size_t leaf) {
  const Credit credit = CreditOf(spec, Thinking(), true);
  return credit.layers[1].advantages[leaf].values;
}

TEST(ToolPo, TheThoughtRightBeforeACallIsCreditedAsTheCallWhereThatIsAsked) {
  const std::vector<float> calls = {0, 0, 0, 0, .5f, .5f, 0, 0};
  const std::vector<float> thoughts = {.5f, .5f, .5f, 0, .5f, .5f, 0, 0};
  const auto first_turn = [](const std::vector<float>& values) {
    return std::vector<float>(values.begin(), values.begin() + 8);
  };
  for (const std::string method : {"toolpo", "toolpo-per-call", "toolpo-split"}) {
    EXPECT_EQ(first_turn(CallLayer(method, 0)), calls) << method;
    EXPECT_EQ(CallLayer(method + ":thoughts=no", 0), CallLayer(method, 0)) << method;
    const std::string with = method + ":thoughts=yes";
    EXPECT_EQ(first_turn(CallLayer(with, 0)), thoughts) << method;
    std::vector<float> other = thoughts;
    for (float& value : other) value = -value;
    EXPECT_EQ(first_turn(CallLayer(with, 1)), other) << method;
  }
  // The earlier of two thoughts is not the one right before the call; one before an answer is none.
  const std::vector<float> whole = CallLayer("toolpo:thoughts=yes", 0);
  EXPECT_EQ(std::vector<float>(whole.begin() + 8, whole.end()),
            (std::vector<float>{0, 0, .5f, .5f, 0, .5f, .5f, 0, 0, 0, 0}));
}

TEST(ToolPoSplit, KeepsTheOutcomeOffWhatTheCallsAreCreditedOn) {
  const auto outcome = [](const std::string& spec) {
    const Credit credit = CreditOf(spec, Thinking(), true);
    const std::vector<float>& values = credit.layers[0].advantages[0].values;
    return std::vector<float>(values.begin(), values.begin() + 8);
  };
  EXPECT_EQ(outcome("toolpo-split"), (std::vector<float>{.5f, .5f, .5f, .5f, 0, 0, .5f, .5f}));
  EXPECT_EQ(outcome("toolpo-split:thoughts=yes"),
            (std::vector<float>{0, 0, 0, .5f, 0, 0, .5f, .5f}));
}

// The second sibling answered instead of making its second and third call.
TEST(ToolPoPerCall, CallsThatWereLeftOutAreComparedWithThoseThatWereMade) {
  ShortGroup group = GroupFrom(R"({"group":[
      {"terms":{"outcome":1,"omitted":0},"turns":[
        {"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":1}}]},{"author":"tool","tokens":1},
        {"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":1}}]},{"author":"tool","tokens":1},
        {"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":-0.25}}]},
        {"author":"tool","tokens":1},{"tokens":3}]},
      {"terms":{"outcome":0},"turns":[
        {"tokens":4,"calls":[{"begin":0,"end":2,"terms":{"call":1}}]},{"author":"tool","tokens":1},
        {"tokens":3,"terms":{"omitted":-0.25}}]}]})");
  Score& stopped = group.record.scores[1];
  const auto omitted = std::find_if(stopped.terms.begin(), stopped.terms.end(),
                                    [](const auto& term) { return term.name == "omitted"; });
  stopped.terms.push_back(RewardTerm(*omitted));  // and the third
  const Credit credit = CreditOf("toolpo-per-call", group, true);
  const std::vector<float>& made = credit.layers[1].advantages[0].values;
  const std::vector<float>& left_out = credit.layers[1].advantages[1].values;
  EXPECT_NEAR(made[4], 0.625, 1e-6) << "the second call against the one that was left out";
  EXPECT_EQ(made[8], 0) << "a wrong third call is worth what a missing one is";
  EXPECT_EQ(left_out[0], 0);
  EXPECT_NEAR(left_out[4], -0.625, 1e-6);
  EXPECT_NEAR(left_out[6], -0.625, 1e-6) << "on all that was written instead";
  EXPECT_FALSE(HasNote(credit, NoteKind::kUnscored));
  const Credit smeared = CreditOf("smeared", group, true);
  EXPECT_NEAR(smeared.layers[1].advantages[0].values[0], 0.625, 1e-6) << "1.75 and 0.5";
}

TEST(ToolPo, TheMeanOverCallsDoesNotPayForNumber) {
  const Credit credit = CreditOf("toolpo:over=mean", kTwoCalls, true);
  EXPECT_NEAR(credit.layers[1].advantages[0].values[0], 0.25, 1e-6);
}

// Numbers of SiliangZeng/Multi-Turn-RL-Agent (_assign_advantages): with a result, the outcome's
// advantage on all tokens and the turn's before it; without one, that of their sum on all tokens.
// Turn rewards are summed over all calls.
TEST(MtGrpo, WithoutAToolResultOutcomeAndCallsAreComparedAsOneSum) {
  const std::string result = R"({"author":"tool","tokens":2},{"tokens":2})";
  const auto calling = [&](const char* outcome, const char* first, const char* more) {
    return std::string(R"({"terms":{"outcome":)") + outcome +
           R"(},"turns":[{"tokens":3,"calls":[{"begin":0,"end":3,"terms":{"call":)" + first +
           "}}]}," + more + result + "]}";
  };
  const std::string second =
      R"({"author":"tool","tokens":1},{"tokens":2,"calls":[{"begin":0,"end":2,"terms":{"call":1}}]},)";
  const Credit credit = CreditOf("mt-grpo", R"({"group":[)" + calling("1", "1", second.c_str()) +
                                                "," + calling("0", "-0.5", "") + "," + Plain("1") +
                                                "," + Plain("0") + "]}");
  // outcomes 1 0 1 0; turns 2 -0.5 0 0; sums 3 -0.5 1 0
  const double outcome = 0.5 / (0.57735 + 1e-4), turn = 1.625 / (1.108678 + 1e-4),
               combined = 1.547848 + 1e-4;
  const std::vector<float>& first = credit.advantages[0].values;
  EXPECT_NEAR(first[0], outcome + turn, 1e-4);
  EXPECT_NEAR(first[3], outcome, 1e-4) << "behind the first result: the outcome alone";
  EXPECT_NEAR(credit.advantages[2].values[0], (1 - 0.875) / combined, 1e-4);
  EXPECT_NEAR(credit.advantages[3].values[1], -0.875 / combined, 1e-4);
}

TEST(MtGrpo, WhereNobodyCallsItIsTheOutcomes) {
  const Credit credit = CreditOf("mt-grpo", GroupOfPlain({"1", "0"}));
  EXPECT_NEAR(credit.advantages[0].values[0], 0.5 / (0.707107 + 1e-4), 1e-5);
}

// NVlabs/GDPO: advantages of single rewards are multiplied by their weights, then summed.
TEST(Gdpo, WeightsActAfterTheComparison) {
  const auto of = [](double weight) {
    ShortGroup group = GroupFrom(R"({"group":[
        {"terms":{"outcome":1,"format":1},"turns":[{"tokens":1}]},
        {"terms":{"outcome":0,"format":1},"turns":[{"tokens":1}]},
        {"terms":{"outcome":1,"format":0},"turns":[{"tokens":1}]},
        {"terms":{"outcome":0,"format":0},"turns":[{"tokens":1}]}]})");
    for (Score& score : group.record.scores) {
      for (RewardTerm& term : score.terms) {
        if (term.name == "format") term.weight = weight;
      }
    }
    return Firsts(CreditOf("gdpo:batch_norm=no", group).advantages);
  };
  const double a = 0.866024;
  ExpectNear(of(1), {2 * a, 0, 0, -2 * a});
  ExpectNear(of(0.1), {1.1 * a, -0.9 * a, 0.9 * a, -1.1 * a});
  ExpectNear(of(10), {11 * a, 9 * a, -9 * a, -11 * a});
  ExpectNear(of(-1), {0, -2 * a, 2 * a, 0});
  ExpectNear(of(0), {a, -a, a, -a});
}

// TencentYoutuResearch/SPEAR (recipe/spear/reward.py): messages whose tool_calls could be parsed.
TEST(Spear, OnlyCallsThatCouldBeReadArePaid) {
  const std::string read = R"("calls":[{"begin":0,"end":1}])",
                    unread = R"("faults":[{"begin":0,"end":1}])";
  const auto member = [](const std::string& what) {
    return R"({"terms":{"outcome":0},"turns":[{"tokens":2,)" + what + "}]}";
  };
  const Credit credit =
      CreditOf("spear:step=0", "{\"group\":[" + member(read) + "," + member(unread) + "]}");
  EXPECT_NEAR(credit.advantages[0].values[0], 0.05, 1e-6);
  EXPECT_NEAR(credit.advantages[1].values[0], -0.05, 1e-6);
}

TEST(MtGrpo, TheTurnsCreditEndsAtTheFirstResult) {
  const Credit credit = CreditOf("mt-grpo", kTwoCalls, true);
  const std::vector<float>& turn = credit.layers[1].advantages[0].values;
  EXPECT_GT(turn[3], 0.7);
  EXPECT_EQ(turn[4], 0);
  const Credit combined = CreditOf("mt-grpo:variant=cae", kTwoCalls, true);
  EXPECT_EQ(combined.layers[0].advantages[0].values[0], 0);
  EXPECT_GT(combined.layers[0].advantages[0].values[4], 0.7);
}

constexpr const char* kRightCall =
    R"({"tokens":2,"calls":[{"begin":0,"end":2,"terms":{"call":1}}]},{"author":"tool","tokens":1},)";
constexpr const char* kNeedlessCall =
    R"({"tokens":2,"calls":[{"begin":0,"end":2,"terms":{"call":-0.25}}]},{"author":"tool","tokens":1},)";

std::string Played(int outcome, const std::string& turns) {
  return R"({"terms":{"outcome":)" + std::to_string(outcome) + R"(},"turns":[)" + turns +
         R"({"tokens":1}]})";
}

// A chain of one: the right call and the answer; the same with a needless call; no call at all.
// Worked out by hand.
TEST(ToolPoSiblings, ACallThatIsLeftOutCounts) {
  const std::string right = kRightCall;
  const std::string group = "{\"group\":[" + Played(1, right) + "," +
                            Played(1, right + kNeedlessCall) + "," + Played(0, "") + "]}";
  const Credit credit = CreditOf("toolpo-siblings:absent=0", group);
  const std::vector<float>&plain = credit.advantages[0].values,
        &wasteful = credit.advantages[1].values;
  // Outcomes 1 1 0; at the prompt 1 1 0; after the right call 0 and -0.25.
  EXPECT_NEAR(plain[0], 2.0 / 3, 1e-6);
  EXPECT_NEAR(plain[2], 1.0 / 3 + 0.125, 1e-6) << "the answer, beside who called once more";
  EXPECT_NEAR(wasteful[0], 2.0 / 3, 1e-6);
  EXPECT_NEAR(wasteful[2], 1.0 / 3 - 0.125, 1e-6) << "the needless call";
  EXPECT_NEAR(wasteful[4], 1.0 / 3, 1e-6) << "nobody else was there: the outcome alone";
  EXPECT_NEAR(credit.advantages[2].values[0], -4.0 / 3, 1e-6);
  // One sibling more who calls nowhere: at the prompt the mean is 1/2, after the call -1/12.
  const Credit seen = CreditOf("toolpo-siblings", group);
  EXPECT_NEAR(seen.advantages[0].values[0], 1.0 / 3 + 0.5, 1e-6);
  EXPECT_NEAR(seen.advantages[1].values[2], 1.0 / 3 - 0.25 + 1.0 / 12, 1e-6);
}

// What a missing call costs belongs to who stopped instead: beside a sibling who called wrongly,
// stopping is no better.
TEST(ToolPoSiblings, WhatAMissingCallCostsIsReadWhereThereIsATermForIt) {
  const auto member = [](const char* omitted, const std::string& turns) {
    return std::string(R"({"terms":{"outcome":0,"omitted":)") + omitted + R"(},"turns":[)" + turns +
           R"({"tokens":1}]})";
  };
  const std::string group = "{\"group\":[" + member("0", kRightCall) + "," +
                            member("0", kNeedlessCall) + "," + member("-0.25", "") + "]}";
  const Credit credit = CreditOf("toolpo-siblings:absent=0", group);
  // 1, -0.25 and -0.25 at the prompt.
  EXPECT_NEAR(credit.advantages[0].values[0], 1 - 0.5 / 3, 1e-6);
  EXPECT_NEAR(credit.advantages[2].values[0], -0.25 - 0.5 / 3, 1e-6);
  EXPECT_EQ(credit.advantages[1].values[0], credit.advantages[2].values[0]);
}

// Where all siblings make the same needless call, a comparison of second calls with second calls
// says nothing.
TEST(ToolPoSiblings, ANeedlessCallThatEverybodyMakesIsSeen) {
  const std::string member = Played(1, std::string(kRightCall) + kNeedlessCall);
  const std::string group = "{\"group\":[" + member + "," + member + "]}";
  EXPECT_EQ(CreditOf("toolpo-per-call", group).advantages[0].values[2], 0);
  EXPECT_EQ(CreditOf("toolpo-siblings:absent=0", group).advantages[0].values[2], 0);
  EXPECT_NEAR(CreditOf("toolpo-siblings", group).advantages[0].values[2], -0.25 / 3, 1e-6);
}

// What was called and answered before makes the situation: after another first call nobody is in
// the same one, and what is done there is not compared.
TEST(ToolPoSiblings, OnlyTheSameSituationIsCompared) {
  const std::string other =
      R"({"tokens":2,"calls":[{"begin":0,"end":2,"terms":{"call":-0.25}}]},{"author":"tool","tokens":[9]},)";
  const Credit credit = CreditOf("toolpo-siblings", "{\"group\":[" + Played(1, other + kRightCall) +
                                                        "," + Played(1, kRightCall) + "]}");
  EXPECT_EQ(credit.advantages[0].values[2], 0) << "the second call, after a wrong one";
  EXPECT_LT(credit.advantages[0].values[0], 0);
}

TEST(GiGpo, TurnsAfterTheSameObservationAreCompared) {
  const Credit credit = CreditOf("gigpo:gamma=1", R"({"group":[
      {"terms":{"outcome":1},"turns":[{"tokens":1},{"author":"tool","tokens":[5]},{"tokens":2}]},
      {"terms":{"outcome":0},"turns":[{"tokens":1},{"author":"tool","tokens":[5]},{"tokens":2}]},
      {"terms":{"outcome":0},"turns":[{"tokens":1},{"author":"tool","tokens":[6]},{"tokens":2}]}]})",
                                 true);
  const std::vector<float>& step = credit.layers[1].advantages[0].values;
  EXPECT_NEAR(step[1], 0.707106, 1e-5) << "two saw 5";
  EXPECT_NEAR(step[0], 1.154699, 1e-5) << "three saw the prompt";
  EXPECT_EQ(credit.layers[1].advantages[2].values[1], 0) << "nobody else saw 6";
}

TEST(TreeRl, ATurnIsWorthWhatItRaises) {
  const Credit credit = CreditOf("treerl", GroupOfPlain({"1", "0"}));
  EXPECT_NEAR(credit.advantages[0].values[0], 1.0, 1e-6);  // (0.5 + 0.5) / sqrt(1)
}

TEST(ReMax, ComparesWithTheGreedyTrajectory) {
  const Credit credit = CreditOf("remax", R"({"group":[
      {"terms":{"outcome":0.25},"turns":[{"tokens":1,"greedy":true}]},
      {"terms":{"outcome":1},"turns":[{"tokens":1}]}]})");
  EXPECT_EQ(credit.advantages[0].values[0], 0);
  EXPECT_NEAR(credit.advantages[1].values[0], 0.75, 1e-6);
}

TEST(SimpleTir, AVoidTurnCountsInTheStatisticsAndGetsNothing) {
  const Credit credit = CreditOf("simpletir", R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":1}],"ending":"void"},
      {"terms":{"outcome":1},"turns":[{"tokens":1}]}]})");
  EXPECT_EQ(credit.advantages[0].values[0], 0);
  EXPECT_NEAR(credit.advantages[1].values[0], 0.707106, 1e-5);
  EXPECT_TRUE(HasNote(credit, NoteKind::kMasked, 0));
}

TEST(Spear, ToolUseIsPaidLessAndLess) {
  const std::string group = R"({"group":[
      {"terms":{"outcome":0},"turns":[{"tokens":2,"calls":[{"begin":0,"end":1}]}]},
      {"terms":{"outcome":0},"turns":[{"tokens":2}]}]})";
  EXPECT_NEAR(CreditOf("spear", group).advantages[0].values[0], 0.05, 1e-6);
  EXPECT_EQ(CreditOf("spear:step=200", group).advantages[0].values[0], 0);
}

TEST(Cm2, StepsAreJudgedByWhatWasStillOpen) {
  std::string members;
  for (int i = 0; i < 6; ++i) {
    members +=
        std::string(i > 0 ? "," : "") +
        (i < 3
             ? R"({"turns":[{"tokens":1,"terms":{"criterion:a":1}},{"author":"tool","tokens":1},{"tokens":1}]})"
             : R"({"turns":[{"tokens":1},{"author":"tool","tokens":1},{"tokens":1,"terms":{"criterion:a":0}}]})");
  }
  const std::string group = "{\"group\":[" + members + "]}";
  const Credit step = CreditOf("cm2-step", group);
  EXPECT_NEAR(step.advantages[0].values[0], 0.5, 1e-6);
  EXPECT_EQ(step.advantages[0].values[1], 0) << "met already";
  EXPECT_NEAR(step.advantages[5].values[1], -0.5, 1e-6);
  EXPECT_NEAR(CreditOf("cm2-turn", group).advantages[0].values[1], 0.5, 1e-6);
  EXPECT_NEAR(CreditOf("cm2-trajectory", group).advantages[5].values[0], -0.5, 1e-6);
}

}  // namespace
}  // namespace hone
