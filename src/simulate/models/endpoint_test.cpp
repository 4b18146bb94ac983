#include "simulate/models/endpoint.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "simulate/models/language_model.h"
#include "support/chat_server.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<LanguageModel> ModelAt(const ChatServer& server, LanguageModelOptions options = {},
                                       const std::string& key_variable = "") {
  auto kit = NewEndpointToolkit({server.url(), "tiny", key_variable});
  EXPECT_TRUE(kit.ok());
  options.name = "tiny";
  return NewLanguageModel(*kit, std::move(options), NewRealTimeline()).value();
}

CompletionRequest Say(std::string text) { return {.messages = {{"user", std::move(text)}}}; }

LanguageModelOptions Quick() {
  return {
      .limits = {.deadline = seconds(5), .attempt = milliseconds(300), .backoff = milliseconds(5)}};
}

TEST(Endpoint, SpeaksOpenAisShapeWithTheKeyFromTheEnvironment) {
  ChatServer::Request seen;
  ChatServer server([&](const ChatServer::Request& request) {
    seen = request;
    return ChatServer::Says("hello", 12, 3);
  });
  ::setenv("HONE_TEST_KEY", "sesame", 1);
  const auto model = ModelAt(server, {}, "HONE_TEST_KEY");
  const Completion completion =
      model->Complete({.messages = {{"system", "be brief"}, {"user", "hi"}},
                       .temperature = 0.5,
                       .max_tokens = 7,
                       .seed = 3,
                       .json = true});
  EXPECT_EQ(completion.text, "hello");
  EXPECT_EQ(completion.usage, (TokenUsage{12, 3}));
  EXPECT_EQ(seen.path, "/v1/chat/completions");
  EXPECT_EQ(seen.headers.at("authorization"), "Bearer sesame");
  EXPECT_EQ(seen.body,
            ParseJson(R"({"model": "tiny", "temperature": 0.5, "max_tokens": 7, "seed": 3,
      "response_format": {"type": "json_object"}, "messages": [
        {"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]})")
                .value());
  ::unsetenv("HONE_TEST_KEY");
  EXPECT_NE(NewEndpointToolkit({server.url(), "tiny", "HONE_TEST_KEY"})
                .error()
                .message()
                .find("HONE_TEST_KEY"),
            std::string::npos);
}

TEST(Endpoint, RateLimitsServerErrorsGarbageAndSilenceAreSurvived) {
  ChatServer server([](const ChatServer::Request& request) -> ChatServer::Reply {
    switch (request.number) {
      case 0: return {.status = 429, .headers = "Retry-After: 0.05\r\n", .body = "slow down"};
      case 1: return {.status = 500, .body = "oops"};
      case 2: return {.body = "<html>"};
      case 3: return {.hang = true};
      default: return ChatServer::Says("at last");
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  LanguageModelOptions options = Quick();
  options.limits.retries = 4;
  const auto model = ModelAt(server, options);
  EXPECT_EQ(model->Complete(Say("hi")).text, "at last");
  EXPECT_EQ(server.requests(), 5);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(350))
      << "the silence cost its attempt, and the pause was as long as was asked for";
}

TEST(Endpoint, WhatIsOursIsNotRepeatedAndNeverShowsTheKey) {
  ::setenv("HONE_TEST_KEY", "sesame", 1);
  ChatServer server([](const ChatServer::Request&) -> ChatServer::Reply {
    return {.status = 401, .body = "the key sesame is no key"};
  });
  const auto model = ModelAt(server, Quick(), "HONE_TEST_KEY");
  const Completion completion = model->Complete(Say("hi"));
  EXPECT_EQ(completion.status, CompletionStatus::kUnavailable);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_NE(completion.problem.find("401: the key [key] is no key"), std::string::npos)
      << completion.problem;
  ::unsetenv("HONE_TEST_KEY");
}

TEST(Endpoint, NoMoreAtATimeThanTheLimitSays) {
  ChatServer server([](const ChatServer::Request&) {
    std::this_thread::sleep_for(milliseconds(10));
    return ChatServer::Says("x");
  });
  LanguageModelOptions options = Quick();
  options.limits.attempt = seconds(5);
  options.limits.concurrent = 2;
  const auto model = ModelAt(server, options);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] { model->Complete(Say(std::to_string(t))); });
  }
  threads.clear();
  EXPECT_EQ(server.requests(), 6);
  EXPECT_LE(server.most_at_once(), 2);
  EXPECT_EQ(model->account().completions, 6);
}

}  // namespace
}  // namespace hone
