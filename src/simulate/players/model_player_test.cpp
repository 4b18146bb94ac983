// The model player, and with it a simulated API from end to end: an agent's executor, the
// simulator, the language model's executor, and a real HTTP server that speaks OpenAI's shape.

#include "simulate/players/model_player.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "simulate/models/endpoint.h"
#include "simulate/simulator.h"
#include "support/chat_server.h"
#include "support/scripted_toolkit.h"
#include "tools/modes.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Json J(std::string_view text) { return ParseJson(text).value(); }

ToolSpec OrderSpec() {
  return {.name = "get_order",
          .description = "Looks an order up.",
          .parameters = J(R"({"type": "object", "required": ["order_id"],
              "properties": {"order_id": {"type": "string"}}})"),
          .output = J(R"({"type": "object", "required": ["address"], "properties": {
              "address": {"type": "string"}}})"),
          .resource = "orders"};
}

TEST(ReadPlayedText, FencesRawJsonAndWordsAroundItAreRead) {
  const ToolSpec spec = OrderSpec();
  const PlayedResult oslo{CallStatus::kOk, R"({"address":"Oslo"})", ""};
  EXPECT_EQ(ReadPlayedText(R"({"address": "Oslo"})", spec), oslo);
  EXPECT_EQ(ReadPlayedText("Sure!\n```json\n{\"address\": \"Oslo\"}\n```\nBye", spec), oslo);
  EXPECT_EQ(ReadPlayedText("```\n{\"address\": \"Oslo\"}", spec), oslo);
  EXPECT_EQ(ReadPlayedText("The result [as asked] is {\"address\": \"Oslo\"}.", spec), oslo);
  EXPECT_EQ(ReadPlayedText(R"({"error": "no such order"})", spec),
            (PlayedResult{CallStatus::kToolError, R"({"error":"no such order"})", ""}));
  EXPECT_FALSE(ReadPlayedText(R"({"address": )", spec).problem.empty());
  EXPECT_FALSE(ReadPlayedText("I cannot do that", spec).problem.empty());
  EXPECT_FALSE(ReadPlayedText("", spec).problem.empty());
  EXPECT_EQ(ReadPlayedText("any text", {.name = "t"}).content, "any text");
  // A tool that returns objects with "error" in them does not refuse by it.
  ToolSpec lint = OrderSpec();
  lint.output = J(R"({"type": "object", "required": ["error"]})");
  EXPECT_EQ(ReadPlayedText(R"({"error": "line 3"})", lint).status, CallStatus::kOk);
}

// A shop that an endpoint plays.
class SimulatedApi : public testing::Test {
 protected:
  SimulatedApi() {
    auto kit = std::make_shared<ScriptedToolkit>();
    auto absent = [](const Json&, const CallLimits&) {
      return Unavailable("only described", Blame::kInfrastructure);
    };
    kit->Add(OrderSpec(), absent);
    kit->Add({.name = "move_order",
              .description = "Changes where an order goes.",
              .parameters = J(R"({"type": "object", "required": ["order_id", "address"]})"),
              .output = J(R"({"type": "object", "required": ["ok"]})"),
              .effect = Effect::kWrites,
              .resource = "orders"},
             absent);
    toolbox_ = ToolboxOf({kit}, {.deadline = seconds(20), .attempt = seconds(20), .retries = 0});
  }

  void Serve(ChatServer::Handler handler) {
    server_ = std::make_unique<ChatServer>(std::move(handler));
  }

  std::shared_ptr<Simulator> NewPlayed(std::shared_ptr<const JournaledCalls> recorded = nullptr) {
    LanguageModelOptions options{.name = "tiny",
                                 .limits = {.deadline = seconds(10),
                                            .attempt = milliseconds(300),
                                            .retries = 3,
                                            .backoff = milliseconds(5)},
                                 .journal = completions_};
    auto kit = NewEndpointToolkit({server_->url(), "tiny", ""}).value();
    model_ = NewLanguageModel(kit, std::move(options), NewRealTimeline()).value();
    return NewSimulator(NewModelPlayer(model_, std::move(recorded), {}), {.tries = 3},
                        timeline_.get());
  }

  using Calls = std::vector<std::pair<std::string, std::string>>;
  std::vector<ToolResult> Play(const std::shared_ptr<Responder>& simulator, const Calls& calls) {
    Executor executor({.responders = {simulator}}, timeline_.get());
    const auto sessions = std::make_shared<Sessions>(toolbox_, 1);
    std::vector<ToolResult> results;
    int32_t turn = 0;
    for (const auto& [tool, arguments] : calls) {
      executor.Submit({{"r", "t", "0", turn++, 0}, tool, J(arguments), sessions});
      results.push_back(executor.Next()->result);
    }
    return results;
  }

  static std::string UserText(const ChatServer::Request& request) {
    return request.body.Find("messages")->AsArray()[1].Find("content")->AsString();
  }

  std::unique_ptr<Timeline> timeline_ = NewRealTimeline();
  std::shared_ptr<const Toolbox> toolbox_;
  std::unique_ptr<ChatServer> server_;
  std::shared_ptr<LanguageModel> model_;
  std::shared_ptr<Journal> completions_;
};

TEST_F(SimulatedApi, IsToldTheToolTheCallAndWhatWasRecordedAndNothingOfTheTask) {
  std::string seen;
  Serve([&](const ChatServer::Request& request) {
    seen = UserText(request);
    return ChatServer::Says(R"({"address":"Oslo"})");
  });
  auto recorded = std::make_shared<JournaledCalls>();
  recorded->calls.push_back({.tool = "get_order",
                             .arguments = J(R"({"order_id":"4"})"),
                             .answer = {CallStatus::kOk, R"({"address":"Quito"})", ""}});
  recorded->calls.push_back({.tool = "get_order",
                             .arguments = J(R"({"order_id":"x"})"),
                             .answer = {CallStatus::kToolError, "no such order", ""}});
  const auto results = Play(NewPlayed(recorded), {{"get_order", R"({"order_id":"7"})"}});
  EXPECT_EQ(results[0].content, R"({"address":"Oslo"})");
  EXPECT_EQ(results[0].status, CallStatus::kOk);
  for (const char* part :
       {"Looks an order up.", R"(get_order({"order_id":"4"}) -> {"address":"Quito"})",
        R"(get_order({"order_id":"x"}) -> {"error":"no such order"})",
        R"(The call: get_order({"order_id":"7"}))"}) {
    EXPECT_NE(seen.find(part), std::string::npos) << part << " in\n" << seen;
  }
}

TEST_F(SimulatedApi, MalformedAnswersAreTriedAgainWithTheProblem) {
  std::vector<std::string> seen;
  Serve([&](const ChatServer::Request& request) {
    seen.push_back(UserText(request));
    if (request.number == 0) return ChatServer::Says("I am not sure what you mean.");
    if (request.number == 1) return ChatServer::Says(R"({"street":"Oslo"})");
    return ChatServer::Says("```json\n{\"address\":\"Oslo\"}\n```");
  });
  EXPECT_EQ(Play(NewPlayed(), {{"get_order", R"({"order_id":"7"})"}})[0].content,
            R"({"address":"Oslo"})");
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_NE(seen[1].find("it is not JSON"), std::string::npos);
  EXPECT_NE(seen[2].find("address"), std::string::npos);
}

TEST_F(SimulatedApi, AnEndpointThatNeverMakesSenseIsTheSimulatorsFault) {
  Serve([](const ChatServer::Request&) { return ChatServer::Says("no"); });
  const ToolResult result = Play(NewPlayed(), {{"get_order", R"({"order_id":"7"})"}})[0];
  EXPECT_EQ(result.status, CallStatus::kUnavailable);
  EXPECT_EQ(result.blame, Blame::kSimulator);
  EXPECT_EQ(server_->requests(), 3);
}

TEST_F(SimulatedApi, SlowAndRateLimitedEndpointsAreWaitedForAndRetried) {
  Serve([](const ChatServer::Request& request) -> ChatServer::Reply {
    if (request.number == 0) return {.status = 429, .headers = "Retry-After: 0\r\n"};
    if (request.number == 1) return {.hang = true};
    return ChatServer::Says(R"({"address":"Oslo"})");
  });
  EXPECT_EQ(Play(NewPlayed(), {{"get_order", R"({"order_id":"7"})"}})[0].content,
            R"({"address":"Oslo"})");
  EXPECT_EQ(server_->requests(), 3);
}

TEST_F(SimulatedApi, AContradictionOfWhatWasWrittenIsPutRight) {
  std::string last;
  Serve([&](const ChatServer::Request& request) {
    last = UserText(request);
    if (last.find("The call: move_order") != std::string::npos)
      return ChatServer::Says(R"({"ok":true})");
    return ChatServer::Says(R"({"address":"Rome","items":3})");  // whatever was written
  });
  const auto simulator = NewPlayed();
  const auto results = Play(simulator, {{"get_order", R"({"order_id":"7"})"},
                                        {"move_order", R"({"order_id":"7","address":"Oslo"})"},
                                        {"get_order", R"({"order_id":"7"})"}});
  EXPECT_EQ(results[0].content, R"({"address":"Rome","items":3})");
  EXPECT_EQ(results[2].content, R"({"address":"Oslo","items":3})");
  EXPECT_EQ(simulator->counts().repaired, 1);
  EXPECT_NE(last.find(R"(get_order({"order_id":"7"}) -> {"address":"Rome","items":3})"),
            std::string::npos)
      << last;
  EXPECT_NE(last.find(R"(move_order({"order_id":"7","address":"Oslo"}) -> {"ok":true})"),
            std::string::npos);
  // What this call said comes before the change, what others say now behind it.
  const size_t before = last.find("What this call returned at first:"),
               changed = last.find("What was changed since then");
  EXPECT_LT(before, changed) << last;
  EXPECT_NE(changed, std::string::npos) << last;
}

TEST_F(SimulatedApi, WhatOtherCallsReturnNowIsToldBehindTheChanges) {
  std::string last;
  Serve([&](const ChatServer::Request& request) {
    last = UserText(request);
    if (last.find("The call: move_order") != std::string::npos)
      return ChatServer::Says(R"({"ok":true})");
    return ChatServer::Says(R"({"address":"Rome","items":3})");
  });
  Play(NewPlayed(), {{"move_order", R"({"order_id":"7","address":"Oslo"})"},
                     {"move_order", R"({"order_id":"7","address":"Bern"})"}});
  const size_t changed = last.find("What was changed"),
               now = last.find("What other calls return now, after these changes:");
  ASSERT_NE(now, std::string::npos) << last;
  EXPECT_LT(changed, now) << last;
}

TEST_F(SimulatedApi, RefusalsOfTheToolAreTheAgentsErrors) {
  Serve(
      [](const ChatServer::Request&) { return ChatServer::Says(R"({"error":"no such order"})"); });
  const ToolResult result = Play(NewPlayed(), {{"get_order", R"({"order_id":"7"})"}})[0];
  EXPECT_EQ(result.status, CallStatus::kToolError);
  EXPECT_EQ(result.blame, Blame::kAgent);
}

TEST_F(SimulatedApi, WhatWasCompletedOnceIsTheSameInTheNextRunWithoutTheEndpoint) {
  const TemporaryDirectory directory;
  completions_ = Journal::Open(directory.path() / "completions.sqlite").value();
  Serve([](const ChatServer::Request& request) {  // another answer every time
    return ChatServer::Says(R"({"address":"street )" + std::to_string(request.number) + "\"}");
  });
  const Calls calls = {{"get_order", R"({"order_id":"7"})"}, {"get_order", R"({"order_id":"8"})"}};
  const auto first = Play(NewPlayed(), calls);
  EXPECT_NE(first[0].content, first[1].content);
  const auto second = Play(NewPlayed(), {calls[1], calls[0]});
  EXPECT_EQ(second[1].content, first[0].content);
  EXPECT_EQ(second[0].content, first[1].content);
  EXPECT_EQ(server_->requests(), 2);
  EXPECT_EQ(model_->account().recorded, 2);
}

}  // namespace
}  // namespace hone
