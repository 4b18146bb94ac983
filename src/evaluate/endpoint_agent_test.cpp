#include "evaluate/endpoint_agent.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Says what it is told to, and keeps what it was asked.
class ScriptedChat final : public ChatModel {
 public:
  explicit ScriptedChat(std::vector<ChatTurn> turns) : turns_(std::move(turns)) {}
  const std::string& name() const override { return name_; }
  ModelAccount account() const override { return {}; }
  ChatTurn Complete(const ChatRequest& request) override {
    asked.push_back(request);
    return turns_.at(asked.size() - 1);
  }
  std::vector<ChatRequest> asked;

 private:
  const std::string name_ = "scripted";
  const std::vector<ChatTurn> turns_;
};

ChatTurn Calls(const std::string& arguments) {
  ChatTurn turn;
  turn.calls =
      Json::Array{Json::Of({{"id", "c7"},
                            {"type", "function"},
                            {"function", Json::Of({{"name", "add"}, {"arguments", arguments}})}})};
  turn.usage = {10, 5};
  turn.latency_us = 1000;
  turn.money = 0.5;
  return turn;
}

ChatTurn Says(const std::string& text) {
  ChatTurn turn;
  turn.text = text;
  turn.usage = {20, 1};
  return turn;
}

Opening Asked() {
  Opening opening;
  opening.messages = ParseJson(R"([{"role": "user", "content": "1 + 1"}])").value();
  opening.tools = ParseJson(R"([{"type": "function", "function": {"name": "add", "parameters": {},
      "x-hone": {"effect": "pure"}}}])")
                      .value();
  return opening;
}

TEST(EndpointAgent, TheConversationGoesOutAsChatMessages) {
  ScriptedChat chat({Calls(R"({"a": 1})"), Says("2")});
  EndpointAgent agent(&chat, {.temperature = 0.5, .max_tokens = 9, .seed = 3});
  const Opening opening = Asked();
  PlayedTurn first;
  first.agent = agent.Act(opening, {});
  ASSERT_EQ(first.agent.calls.size(), 1u);
  EXPECT_EQ(first.agent.calls[0].name, "add");
  EXPECT_EQ(first.agent.calls[0].arguments, Json::Of({{"a", 1}}));
  EXPECT_FALSE(first.agent.answer);
  first.agent.results.resize(1);
  first.agent.results[0].content = "2";
  const AgentTurn second = agent.Act(opening, {first});
  EXPECT_EQ(second.answer, "2");
  EXPECT_EQ(chat.asked[1].messages, ParseJson(R"([{"role": "user", "content": "1 + 1"},
      {"role": "assistant", "content": "", "tool_calls": [{"id": "c7", "type": "function",
       "function": {"name": "add", "arguments": "{\"a\": 1}"}}]},
      {"role": "tool", "tool_call_id": "c7", "content": "2"}])")
                                        .value());
  EXPECT_EQ(DumpJson(chat.asked[0].tools),
            R"([{"type":"function","function":{"name":"add","parameters":{}}}])");
  EXPECT_EQ(chat.asked[0].seed, 3u);
  EXPECT_EQ(agent.tokens(), (TokenUsage{30, 6}));
  EXPECT_EQ(agent.money(), 0.5);
  EXPECT_EQ(agent.latency_us(), 1000);
  EXPECT_FALSE(agent.left());
}

TEST(EndpointAgent, ArgumentsThatAreNoObjectAreFaults) {
  for (const char* arguments : {"{", "[1]", "3"}) {
    ScriptedChat chat({Calls(arguments), Says("x")});
    EndpointAgent agent(&chat, {});
    PlayedTurn first;
    first.agent = agent.Act(Asked(), {});
    EXPECT_EQ(first.agent.faults.size(), 1u) << arguments;
    EXPECT_TRUE(first.agent.calls.empty());
    EXPECT_FALSE(first.agent.answer);
    agent.Act(Asked(), {first});
    EXPECT_EQ(chat.asked[1].messages.AsArray().size(), 3u) << "every call has its result";
  }
  ScriptedChat empty({Calls("")});
  EndpointAgent agent(&empty, {});
  EXPECT_EQ(agent.Act(Asked(), {}).calls.at(0).arguments, Json::Of({}));
}

TEST(EndpointAgent, ItLeavesWhenTheEndpointDoesNotAnswer) {
  ChatTurn gone;
  gone.status = CompletionStatus::kUnavailable;
  gone.problem = "nobody is there";
  ScriptedChat chat({gone});
  EndpointAgent agent(&chat, {});
  agent.Act(Asked(), {});
  EXPECT_TRUE(agent.left());
  EXPECT_EQ(agent.problem(), "nobody is there");
}

}  // namespace
}  // namespace hone
