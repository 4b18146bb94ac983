#include "simulate/models/chat_model.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "support/chat_server.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

LanguageModelOptions Quick() {
  return {.limits = {.deadline = seconds(5),
                     .attempt = seconds(2),
                     .retries = 2,
                     .backoff = milliseconds(5),
                     .max_result_bytes = 1 << 20}};
}

std::unique_ptr<ChatModel> ModelAt(const ChatServer& server, LanguageModelOptions options = Quick(),
                                   const std::string& key = "") {
  return NewChatModel({server.url(), "tiny", key}, std::move(options), NewRealTimeline()).value();
}

ChatRequest Ask(const std::string& text, uint64_t seed = 0) {
  return {.messages = Json::Array{Json::Of({{"role", "user"}, {"content", text}})}, .seed = seed};
}

constexpr const char* kCallsAdd = R"({"choices": [{"finish_reason": "tool_calls", "message":
    {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
     "function": {"name": "add", "arguments": "{\"a\": 1}"}}]}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2}})";

TEST(ChatModel, ToolsAreOfferedAndCallsAreTaken) {
  Json seen;
  ChatServer server([&](const ChatServer::Request& request) {
    seen = request.body;
    return ChatServer::Reply{.body = kCallsAdd};
  });
  ChatRequest request = Ask("1 + 1", 3);
  request.tools =
      ParseJson(R"([{"type": "function", "function": {"name": "add", "parameters": {}}}])").value();
  const ChatTurn turn = ModelAt(server)->Complete(request);
  ASSERT_EQ(turn.status, CompletionStatus::kOk) << turn.problem;
  EXPECT_EQ(turn.text, "");
  EXPECT_EQ(*turn.calls.AsArray()[0].Find("function")->Find("name"), Json("add"));
  EXPECT_EQ(turn.usage, (TokenUsage{7, 2}));
  EXPECT_GT(turn.latency_us, 0);
  EXPECT_EQ(*seen.Find("messages"), request.messages);
  EXPECT_EQ(*seen.Find("tools"), request.tools);
  EXPECT_EQ(*seen.Find("model"), Json("tiny"));
  EXPECT_EQ(*seen.Find("seed"), Json(3));
}

TEST(ChatModel, WhatTheJournalHasIsNotAskedAgain) {
  const TemporaryDirectory directory;
  ChatServer server([](const ChatServer::Request&) { return ChatServer::Says("hi", 10, 5); });
  for (const bool again : {false, true}) {
    LanguageModelOptions options = Quick();
    options.prompt_price = 1e6;
    options.journal = Journal::Open(directory.path() / "asked.sqlite").value();
    const auto model = ModelAt(server, std::move(options));
    const ChatTurn turn = model->Complete(Ask("hello"));
    EXPECT_EQ(turn.text, "hi") << turn.problem;
    EXPECT_EQ(turn.recorded, again);
    EXPECT_EQ(turn.money, 10);
    EXPECT_EQ(model->account().money, again ? 0 : 10);
  }
  EXPECT_EQ(server.requests(), 1);
}

TEST(ChatModel, FailuresAreSaidPlainlyAndTheKeyIsInNone) {
  ::setenv("HONE_TEST_CHAT_KEY", "sesame", 1);
  ChatServer server([](const ChatServer::Request&) {
    return ChatServer::Reply{.status = 401, .body = "bad key sesame"};
  });
  const ChatTurn turn = ModelAt(server, Quick(), "HONE_TEST_CHAT_KEY")->Complete(Ask("hello"));
  EXPECT_EQ(turn.status, CompletionStatus::kUnavailable);
  EXPECT_NE(turn.problem.find("answers 401: bad key [key]"), std::string::npos) << turn.problem;
  EXPECT_EQ(server.requests(), 1) << "asking again would not help";
  ::unsetenv("HONE_TEST_CHAT_KEY");
  EXPECT_FALSE(
      NewChatModel({server.url(), "tiny", "HONE_TEST_CHAT_KEY"}, {}, NewRealTimeline()).ok());
}

TEST(ChatModel, AServerThatIsBusyIsAskedAgain) {
  ChatServer server([](const ChatServer::Request& request) {
    return request.number == 0 ? ChatServer::Reply{.status = 500, .body = "oops"}
                               : ChatServer::Says("hi");
  });
  EXPECT_EQ(ModelAt(server)->Complete(Ask("hello")).text, "hi");
  EXPECT_EQ(server.requests(), 2);
}

TEST(ChatModel, NothingIsAskedBeyondTheBudget) {
  ChatServer server([](const ChatServer::Request&) { return ChatServer::Says("hi", 1, 1); });
  LanguageModelOptions options = Quick();
  options.completion_price = 1e6;
  options.max_money = 1024.5;  // one completion of 1024 tokens at most
  const auto model = ModelAt(server, std::move(options));
  EXPECT_EQ(model->Complete(Ask("a")).status, CompletionStatus::kOk);
  EXPECT_EQ(model->Complete(Ask("b")).status, CompletionStatus::kBudget);
  EXPECT_EQ(server.requests(), 1);
}

}  // namespace
}  // namespace hone
