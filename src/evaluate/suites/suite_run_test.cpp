#include "evaluate/suites/suite_run.h"

#include <gtest/gtest.h>

#include "support/chat_server.h"
#include "support/desk_policy.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Sums with a calculator, and questions without.
std::shared_ptr<const Suite> Sums(int count) {
  Suite suite{.name = "sums", .cases = {}, .tools = {"calculator"}};
  for (int i = 0; i < count; ++i) {
    SuiteCase& one = suite.cases.emplace_back();
    one.id = std::to_string(i);
    one.category = i % 2 == 0 ? "even" : "odd";
    one.messages = Json::Array{
        Json::Of({{"role", "user"}, {"content", std::to_string(i) + " + " + std::to_string(i)}})};
    one.plays_with = {"calculator"};
    one.rule = "number";
    one.gold = Json(std::to_string(2 * i));
  }
  return std::make_shared<const Suite>(std::move(suite));
}

std::unique_ptr<ChatModel> ModelAt(const std::string& url) {
  return NewChatModel({url, "tiny", ""},
                      {.limits = {.deadline = seconds(5),
                                  .attempt = seconds(2),
                                  .retries = 0,
                                  .backoff = milliseconds(5),
                                  .max_result_bytes = 1 << 20},
                       .completion_price = 1e6},
                      NewRealTimeline())
      .value();
}

// Calls the first tool with the question, then says what it was told.
ChatServer::Reply Calculates(const ChatServer::Request& request) {
  const Json::Array& messages = request.body.Find("messages")->AsArray();
  const std::string last = messages.back().Find("content")->AsString();
  if (*messages.back().Find("role") == Json("tool")) return ChatServer::Says(last, 10, 1);
  const Json tool = *request.body.Find("tools")->AsArray()[0].Find("function")->Find("name");
  const Json message =
      Json::Of({{"role", "assistant"},
                {"content", Json()},
                {"tool_calls",
                 Json::Array{Json::Of(
                     {{"id", "c"},
                      {"type", "function"},
                      {"function",
                       Json::Of({{"name", tool},
                                 {"arguments", DumpJson(Json::Of({{"expression", last}}))}})}})}}});
  return {.body = DumpJson(
              Json::Of({{"choices", Json::Array{Json::Of({{"message", message}})}},
                        {"usage", Json::Of({{"prompt_tokens", 10}, {"completion_tokens", 2}})}}))};
}

TEST(SuiteRun, AnEndpointPlaysWithTheTools) {
  ChatServer server(&Calculates);
  const auto model = ModelAt(server.url());
  int64_t told = 0;
  SuiteRunOptions options{.samples = 2};
  options.progress = [&](int64_t ended, int64_t) { told = std::max(told, ended); };
  const auto outcomes = RunSuite(Sums(5), options, {.at_once = 3}, model.get());
  ASSERT_TRUE(outcomes.ok()) << outcomes.error().message();
  ASSERT_EQ(outcomes->size(), 10u);
  EXPECT_EQ(told, 10);
  for (size_t i = 0; i < 10; ++i) {
    const SuiteOutcome& outcome = (*outcomes)[i];
    EXPECT_TRUE(outcome.measured && outcome.verdict.right) << i;
    EXPECT_EQ(outcome.output.text, std::to_string(2 * (i / 2))) << "in the order of the cases";
    EXPECT_EQ(outcome.turns, 2);
    EXPECT_EQ(outcome.calls, 1);
    EXPECT_EQ(outcome.tool_errors, 0);
    EXPECT_EQ(outcome.tokens, (TokenUsage{20, 3}));
    EXPECT_EQ(outcome.money, 3);
    EXPECT_GT(outcome.latency_us, 0);
  }
}

TEST(SuiteRun, ToolsCanBeRenamedAndCanFail) {
  ChatServer server(&Calculates);
  const auto model = ModelAt(server.url());
  SuiteRunOptions renamed{.names = {{"calculator", "tool_100"}}};
  EXPECT_TRUE(RunSuite(Sums(1), renamed, {}, model.get())->at(0).verdict.right);
  SuiteRunOptions faulty{.faults = {ParseFaultRule("reset").value()}};
  const auto outcomes = RunSuite(Sums(1), faulty, {}, model.get());
  EXPECT_FALSE(outcomes->at(0).verdict.right);
  EXPECT_EQ(outcomes->at(0).tool_errors, 1);
  EXPECT_TRUE(outcomes->at(0).measured) << "what tools do wrong is part of the measurement";
}

TEST(SuiteRun, AnEndpointThatIsNotThereIsAnErrorAtOnce) {
  ChatServer server([](const ChatServer::Request&) {
    return ChatServer::Reply{.status = 401, .body = "wrong key"};
  });
  const auto refused = RunSuite(Sums(50), {}, {}, ModelAt(server.url()).get());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("401: wrong key"), std::string::npos);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_FALSE(RunSuite(Sums(1), {}, {}, ModelAt("http://127.0.0.1:9/v1").get()).ok());
}

TEST(SuiteRun, WhatFailsLaterIsNotMeasured) {
  ChatServer server([](const ChatServer::Request& request) {
    return request.number < 2 ? Calculates(request)
                              : ChatServer::Reply{.status = 404, .body = "gone"};
  });
  const auto outcomes = RunSuite(Sums(3), {}, {.at_once = 1}, ModelAt(server.url()).get());
  ASSERT_TRUE(outcomes.ok());
  EXPECT_TRUE(outcomes->at(0).measured);
  EXPECT_FALSE(outcomes->at(1).measured);
  EXPECT_NE(outcomes->at(1).problem.find("404"), std::string::npos);
}

TEST(SuiteRun, AModelHereDoesASuiteTheSameWayEveryTime) {
  DeskPolicy desk({});
  const Policy policy = desk.Make();
  Suite without_tools = *Sums(3);
  without_tools.tools.clear();
  for (SuiteCase& one : without_tools.cases) one.plays_with.clear();
  const auto suite = std::make_shared<const Suite>(std::move(without_tools));
  const auto once = RunSuite(suite, {.samples = 2, .seed = 4}, policy);
  ASSERT_TRUE(once.ok()) << once.error().message();
  ASSERT_EQ(once->size(), 6u);
  const auto again = RunSuite(suite, {.samples = 2, .seed = 4}, policy);
  const auto other = RunSuite(suite, {.samples = 2, .seed = 5}, policy);
  int64_t differ = 0;
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ((*once)[i].output, (*again)[i].output);
    EXPECT_EQ((*once)[i].tokens, (*again)[i].tokens);
    differ += (*once)[i].tokens == (*other)[i].tokens ? 0 : 1;
    EXPECT_EQ((*once)[i].turns, 1) << (*once)[i].problem;
    EXPECT_GT((*once)[i].tokens.completion, 0);
    EXPECT_GT((*once)[i].tokens.prompt, 0);
  }
  EXPECT_GT(differ, 0) << "another seed draws other turns";
}

TEST(SuiteRun, APromptThatTheModelCannotTakeIsWrong) {
  DeskPolicy desk({.positions = 64});
  Suite suite = *Sums(1);
  std::string text;
  for (int i = 0; i < 200; ++i) text += "very ";
  suite.cases[0].messages = Json::Array{Json::Of({{"role", "user"}, {"content", text + "long"}})};
  const auto outcomes = RunSuite(std::make_shared<const Suite>(suite), {}, desk.Make());
  ASSERT_TRUE(outcomes.ok()) << outcomes.error().message();
  EXPECT_TRUE(outcomes->at(0).measured);
  EXPECT_EQ(outcomes->at(0).verdict, (SuiteVerdict{false, "prompt_not_taken"}));
  EXPECT_FALSE(outcomes->at(0).problem.empty());
}

}  // namespace
}  // namespace hone
