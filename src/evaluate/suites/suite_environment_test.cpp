#include "evaluate/suites/suite_environment.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::shared_ptr<const Suite> OneCase(std::vector<std::string> plays_with) {
  Suite suite{.name = "s", .cases = {}, .tools = plays_with};
  SuiteCase& one = suite.cases.emplace_back();
  one.id = "a";
  one.messages = ParseJson(R"([{"role": "user", "content": "2 + 2?"}])").value();
  one.plays_with = std::move(plays_with);
  one.rule = "number";
  one.gold = Json("4");
  return std::make_shared<const Suite>(std::move(suite));
}

struct Played {
  explicit Played(std::vector<std::string> tools, std::map<std::string, std::string> names = {}) {
    const auto suite = OneCase(std::move(tools));
    environment = NewSuiteEnvironment(suite, SuiteTools(*suite, names).value(), names, 2);
    episode = environment->Open(SuiteTask(suite->cases[0]), 1).value();
  }
  std::shared_ptr<const Environment> environment;
  std::unique_ptr<Episode> episode;
};

AgentTurn Saying(std::string text) {
  AgentTurn turn;
  turn.answer = std::move(text);
  return turn;
}

AgentTurn Calling(const std::string& tool) {
  AgentTurn turn;
  turn.calls.push_back({tool, Json::Of({{"expression", "2 + 2"}}), {}});
  turn.results.resize(1);
  return turn;
}

TEST(SuiteEnvironment, WithoutToolsThatAnswerTheFirstTurnIsAll) {
  Played played({});
  EXPECT_TRUE(played.episode->opening().tools.AsArray().empty());
  EXPECT_EQ(played.episode->Step(Calling("f")).ending, Ending::kAnswered);
  const SuiteEnd end = SuiteEndOf(played.episode->final_state());
  EXPECT_EQ(end.output.calls, ParseJson(R"([{"f": {"expression": "2 + 2"}}])").value());
  EXPECT_EQ(end.verdict, (SuiteVerdict{false, "no_answer"}));
}

TEST(SuiteEnvironment, ACaseThatPlaysGoesOnUntilSomethingIsSaid) {
  Played played({"calculator"});
  EXPECT_EQ(played.episode->opening().tools.AsArray().size(), 1u);
  EXPECT_FALSE(played.episode->Step(Calling("calculator")).ending);
  EXPECT_EQ(played.episode->Step(Saying("4")).ending, Ending::kAnswered);
  EXPECT_TRUE(SuiteEndOf(played.episode->final_state()).verdict.right);
  EXPECT_EQ(SuiteEndOf(played.episode->final_state()).output, (SuiteOutput{.text = "4"}));
}

TEST(SuiteEnvironment, ItEndsWhenTheTurnsAreUsedUp) {
  Played played({"calculator"});
  EXPECT_FALSE(played.episode->Step({}).notices.empty()) << "it is told that nothing was said";
  EXPECT_EQ(played.episode->Step(Calling("calculator")).ending, Ending::kTurnLimit);
  EXPECT_EQ(SuiteEndOf(played.episode->final_state()).verdict.error_type, "no_answer");
}

TEST(SuiteEnvironment, ToolsCanHaveOtherNames) {
  Played played({"calculator"}, {{"calculator", "tool_100"}});
  const Toolbox& tools = *played.environment->tools();
  EXPECT_EQ(tools.Find("calculator"), nullptr);
  const Toolbox::Tool* renamed = tools.Find("tool_100");
  ASSERT_NE(renamed, nullptr);
  const ToolReply reply = tools.kits()[renamed->kit].toolkit->Call(
      "tool_100", Json::Of({{"expression", "2 + 2"}}), nullptr, {});
  EXPECT_EQ(reply.content, "4");
  EXPECT_NE(DumpJson(played.episode->opening().tools).find("tool_100"), std::string::npos);
}

TEST(SuiteEnvironment, ATurnThatCannotBeReadIsNoListOfCalls) {
  Played played({});
  AgentTurn turn;
  turn.faults.push_back({FaultKind::kBadJson, "no JSON", {}});
  EXPECT_TRUE(played.episode->Step(turn).ending);
  EXPECT_TRUE(SuiteEndOf(played.episode->final_state()).output.calls.is_null());
  Task other;
  other.id = "b";
  EXPECT_FALSE(played.environment->Open(other, 1).ok());
}

}  // namespace
}  // namespace hone
