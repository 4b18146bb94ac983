#include "rollout/no_calls.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "rollout/chains.h"
#include "support/desk_policy.h"

namespace hone {
namespace {

bool May(const NoCalls& no_calls, std::span<const TokenId> drawn, TokenId token) {
  const std::vector<TokenId> allowed = no_calls.Allowed(drawn);
  return std::binary_search(allowed.begin(), allowed.end(), token);
}

TEST(NoCallsTest, AnOpeningThatIsATokenIsNeverDrawn) {
  const DeskPolicy desk({});
  const auto no_calls = NoCalls::Of(desk.dialect(), desk.tokenizer(), {});
  EXPECT_TRUE(no_calls->certain());
  const TokenId call = *desk.tokenizer().FindAdded("<tool_call>");
  const TokenId answer = *desk.tokenizer().FindAdded("<answer>");
  EXPECT_FALSE(May(*no_calls, {}, call));
  EXPECT_TRUE(May(*no_calls, {}, answer));
  const std::vector<TokenId> never = {answer};
  EXPECT_FALSE(May(*NoCalls::Of(desk.dialect(), desk.tokenizer(), never), {}, answer));
}

TEST(NoCallsTest, AnOpeningIsNotSpelledWithOtherTokensEither) {
  const DeskPolicy desk({});
  const auto no_calls = NoCalls::Of(desk.dialect(), desk.tokenizer(), {});
  // The characters of the marker one by one, as a policy could draw them.
  const std::string opening = "<tool_call>";
  std::vector<TokenId> spelled;
  for (const char letter : opening.substr(0, opening.size() - 1)) {
    for (TokenId id = 0; id < desk.tokenizer().vocab_size(); ++id) {
      if (desk.tokenizer().TokenBytes(id) == std::string(1, letter)) {
        EXPECT_TRUE(May(*no_calls, spelled, id)) << "the beginning of an opening is none";
        spelled.push_back(id);
        break;
      }
    }
  }
  ASSERT_EQ(desk.tokenizer().BytesOf(spelled), "<tool_call");
  for (const TokenId id : no_calls->Allowed(spelled)) {
    EXPECT_FALSE(desk.tokenizer().TokenBytes(id).starts_with(">")) << id;
  }
  spelled.pop_back();  // another letter in between: it is not that word any more
  spelled.push_back(*desk.tokenizer().FindAdded("<answer>"));
  const std::vector<TokenId> allowed = no_calls->Allowed(spelled);
  EXPECT_TRUE(std::any_of(allowed.begin(), allowed.end(), [&](TokenId id) {
    return desk.tokenizer().TokenBytes(id).starts_with(">");
  }));
}

TEST(NoCallsTest, WhereATurnCanBeACallAsItStandsNothingIsCertain) {
  const DeskPolicy desk({});
  const auto llama = NewDialect("llama3").value();
  const auto hermes = NewDialect("hermes").value();
  EXPECT_TRUE(NoCalls::Of(*hermes, desk.tokenizer(), {})->certain());
  EXPECT_FALSE(NoCalls::Of(*llama, desk.tokenizer(), {})->certain());
}

TEST(NoCallsTest, ADeniedCallIsAFaultThatSaysWhatToDo) {
  AgentTurn turn;
  turn.calls.push_back({"clock", Json::Of({}), {1, 4}});
  NoCalls::Deny(&turn, {});
  EXPECT_TRUE(turn.calls.empty());
  ASSERT_EQ(turn.faults.size(), 1u);
  EXPECT_EQ(turn.faults[0].span, (Span{1, 4}));
  EXPECT_NE(turn.faults[0].message.find("answer"), std::string::npos);
  AgentTurn answer;
  answer.answer = "noon";
  NoCalls::Deny(&answer, {});
  EXPECT_EQ(answer.answer, "noon");
  EXPECT_TRUE(answer.faults.empty());
}

TEST(NoCallsTest, OneOfSeveralToolsIsTakenAwayWhereItHasAnOpeningOfItsOwn) {
  const DeskPolicy desk({});
  const auto study = NewDialect("tagged:study").value();
  const ToolsAway tools{.away = {{"search", Json::Of({{"query", "a"}})}},
                        .others = {{"python", Json::Of({{"code", "1"}})}}};
  const auto no_search = NoCalls::Of(*study, desk.tokenizer(), {}, tools);
  EXPECT_TRUE(no_search->certain());
  const auto closing = [&](std::string_view opening) {
    std::vector<TokenId> spelled = desk.tokenizer().Encode(opening);
    const std::vector<TokenId> allowed = no_search->Allowed(spelled);
    return std::any_of(allowed.begin(), allowed.end(), [&](TokenId id) {
      return desk.tokenizer().TokenBytes(id).starts_with(">");
    });
  };
  EXPECT_FALSE(closing("<search"));
  EXPECT_TRUE(closing("<code"));
  // All of hermes' calls begin alike: there a call of this tool is denied, and it is not shown.
  const auto hermes = NewDialect("hermes").value();
  const auto shared = NoCalls::Of(*hermes, desk.tokenizer(), {}, tools);
  EXPECT_FALSE(shared->certain());
  Json shown =
      *ParseJson(R"([{"function": {"name": "search"}}, {"function": {"name": "python"}}])");
  shared->Hide(&shown);
  EXPECT_EQ(DumpJson(shown), R"([{"function":{"name":"python"}}])");
  AgentTurn turn;
  turn.calls = {{"search", Json::Of({}), {0, 2}}, {"python", Json::Of({}), {2, 4}}};
  NoCalls::Deny(&turn, shared->tools());
  ASSERT_EQ(turn.calls.size(), 1u);
  EXPECT_EQ(turn.calls[0].name, "python");
  EXPECT_EQ(turn.faults.size(), 1u);
}

TEST(NoCallsTest, WhereAnotherRuleLeavesSomethingBothHold) {
  const DeskPolicy desk({});
  const auto no_calls = NoCalls::Of(desk.dialect(), desk.tokenizer(), {});
  const TokenId call = *desk.tokenizer().FindAdded("<tool_call>");
  const TokenId answer = *desk.tokenizer().FindAdded("<answer>");
  const auto within = [&](std::vector<TokenId> other) {
    std::sort(other.begin(), other.end());
    return NoCalls::Within(no_calls, [other](std::span<const TokenId>) { return other; })({});
  };
  EXPECT_EQ(within({call, answer}), std::vector<TokenId>{answer});
  EXPECT_EQ(within({}), no_calls->Allowed({})) << "all may follow there";
  EXPECT_EQ(within({call}), std::vector<TokenId>{call}) << "something must follow";
  EXPECT_EQ(NoCalls::Within(no_calls, nullptr)({}), no_calls->Allowed({}));
}

// A policy that has learned to call, with its tools taken away: the same tasks end without a call.
TEST(NoCallsTest, ARolloutWithoutToolsHasNoCalls) {
  DeskPolicy desk({.tasks = 6, .least_calls = 1, .steps = 60});
  const auto timeline = NewVirtualTimeline();
  Executor executor(OptionsFor({}, *desk.environment().tools(), timeline.get()).value(),
                    timeline.get());
  const std::unique_ptr<Strategy> chains = NewChains();
  const auto play = [&](const Policy& policy) {
    return Rollout::New({}, &desk.environment(), policy, chains.get(), &executor)
        .value()
        .Run(desk.Requests(2))
        .value();
  };
  const Policy policy = desk.Make();
  EXPECT_GT(play(policy).counts.calls, 0);
  const RolloutResult without = play(policy.WithoutCalls());
  EXPECT_EQ(without.counts.calls, 0);
  EXPECT_EQ(without.counts.leaves, 12);
  const TokenId call = *desk.tokenizer().FindAdded("<tool_call>");
  for (const Tree& tree : without.trees) {
    for (const Node& node : tree.nodes) {
      if (node.author != Author::kPolicy) continue;
      EXPECT_TRUE(node.calls.empty());
      EXPECT_EQ(std::count(node.tokens.begin(), node.tokens.end(), call), 0);
    }
  }
}

}  // namespace
}  // namespace hone
