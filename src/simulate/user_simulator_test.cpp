#include "simulate/user_simulator.h"

#include <gtest/gtest.h>

#include "simulate/models/endpoint.h"
#include "support/chat_server.h"

namespace hone {
namespace {

const char kScript[] =
    R"({"goal": "Return the blue lamp of order W17 and learn how much is refunded.",
    "persona": "short of time", "stop": "once the refund was named",
    "values": {"order": "W17"}, "alternatives": {"order": ["W17", "W18"]}})";

UserScript Script() { return UserScript::Of(ParseJson(kScript).value()); }

const std::vector<ChatMessage> kTalk = {{"user", "Hello"}, {"assistant", "Which order?"}};

TEST(UserFault, AUserWhoAsksAnswersAndLeavesIsFaultless) {
  EXPECT_EQ(UserFault(Script(), {}, {"Hi, I want to give something back."}), std::nullopt);
  EXPECT_EQ(UserFault(Script(), kTalk, {"It is W17."}), std::nullopt);
  const std::vector<ChatMessage> served = {{"user", "W17"}, {"assistant", "The refund is 30."}};
  EXPECT_EQ(UserFault(Script(), served, {"Thanks, bye.", true}), std::nullopt);
  EXPECT_EQ(UserFault(Script(), served, {"", true}), std::nullopt);
}

TEST(UserFault, LeavingTooEarlyContradictingAndLeakingAreFaults) {
  EXPECT_EQ(UserFault(Script(), {}, {"Bye", true}), "it leaves before its goal could be met");
  EXPECT_EQ(UserFault(Script(), kTalk, {" "}), "it says nothing");
  EXPECT_EQ(UserFault(Script(), kTalk, {"It is w18, please."}),
            R"(it names "W18", and its goal is about another order)");
  EXPECT_EQ(UserFault(Script(), kTalk,
                      {"Return the blue lamp of order W17 and learn how much is refunded"}),
            "it recites the hidden goal");
  EXPECT_TRUE(UserFault(Script(), kTalk, {"As an AI I cannot say."}).has_value());
}

TEST(UserFault, LeavingIsRightWhenItIsMetOrTheAgentLeadsNowhere) {
  UserScript script = Script();
  script.wishes = ParseJson(R"([["W17"], ["clock", "W18"]])").value();
  EXPECT_EQ(UserFault(script, kTalk, {"Bye.", true}), "it leaves when it is asked for something");
  std::vector<ChatMessage> talk = {{"user", "W17, please."}, {"assistant", "Anything else?"}};
  EXPECT_EQ(UserFault(script, talk, {"No.", true}),
            "it leaves before it has said all that it wants");
  script.met = true;
  EXPECT_EQ(UserFault(script, talk, {"No.", true}), std::nullopt);
  script.met = false;
  talk.insert(talk.begin(), {"user", "And the clock."});
  EXPECT_EQ(UserFault(script, talk, {"No.", true}), std::nullopt);
  talk = {{"assistant", "What?"}, {"assistant", "Why?"}, {"assistant", "Who?"}};
  EXPECT_NE(UserFault(script, talk, {"Bye.", true}), std::nullopt);
  talk.push_back({"assistant", "Where?"});
  EXPECT_EQ(UserFault(script, talk, {"This leads nowhere.", true}), std::nullopt);
}

TEST(UserFault, WhatTheAgentBroughtUpMayBeTalkedAbout) {
  std::vector<ChatMessage> talk = kTalk;
  talk.push_back({"assistant", "Do you mean W18?"});
  EXPECT_EQ(UserFault(Script(), talk, {"No, not W18."}), std::nullopt);
}

TEST(UserScriptTest, AnyJsonIsAGoal) {
  EXPECT_EQ(UserScript::Of(Json("buy milk")).goal, "buy milk");
  EXPECT_EQ(UserScript::Of(Json::Of({{"goals", 1}})).goal, R"({"goals":1})");
}

class UserToolkitTest : public testing::Test {
 protected:
  ToolReply Ask(ChatServer::Handler handler, const char* conversation) {
    ChatServer server(std::move(handler));
    std::shared_ptr<LanguageModel> model =
        NewLanguageModel(NewEndpointToolkit({server.url(), "tiny", ""}).value(), {.name = "tiny"},
                         NewRealTimeline())
            .value();
    const auto kit = NewUserToolkit(model, {});
    const ToolReply reply = kit->Call("user",
                                      Json::Of({{"script", ParseJson(kScript).value()},
                                                {"conversation", ParseJson(conversation).value()}}),
                                      nullptr, {});
    requests_ = server.requests();
    return reply;
  }
  int requests_ = 0;
};

TEST_F(UserToolkitTest, TheUserKnowsTheGoalAndTheConversation) {
  std::string seen;
  const ToolReply reply = Ask(
      [&](const ChatServer::Request& request) {
        seen = request.body.Find("messages")->AsArray()[1].Find("content")->AsString();
        return ChatServer::Says(R"({"text": "W17", "stop": false})");
      },
      R"([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Which order?"}])");
  EXPECT_EQ(reply, Answered(R"({"text":"W17","stop":false})"));
  EXPECT_NE(seen.find("short of time"), std::string::npos);
  EXPECT_NE(seen.find("Clerk: Which order?"), std::string::npos);
}

TEST_F(UserToolkitTest, AFaultyLineIsTriedAgainAndThenTheUserSimulatorIsToBlame) {
  const char* talk = R"([{"role": "assistant", "content": "Which order?"}])";
  EXPECT_EQ(Ask(
                [](const ChatServer::Request& request) {
                  return ChatServer::Says(request.number == 0 ? R"({"text": "W18"})"
                                                              : R"({"text": "W17"})");
                },
                talk),
            Answered(R"({"text":"W17","stop":false})"));
  const ToolReply fault =
      Ask([](const ChatServer::Request&) { return ChatServer::Says(R"({"text": "W18"})"); }, talk);
  EXPECT_EQ(fault.status, CallStatus::kUnavailable);
  EXPECT_EQ(fault.blame, Blame::kUserSimulator);
  EXPECT_EQ(requests_, 3);
}

}  // namespace
}  // namespace hone
