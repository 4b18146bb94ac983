#include "tools/mcp/mcp_stdio.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "support/scripted_mcp.h"
#include "tools/mcp/json_rpc.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::optional<JsonRpcMessage> Ignore(const JsonRpcMessage&) { return std::nullopt; }

McpStdioOptions Scripted(const std::string& mode = "") {
  McpStdioOptions options;
  options.command = ScriptedMcp(mode).command;
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  return options;
}

std::unique_ptr<McpTransport> Started(const McpStdioOptions& options, McpReceive receive = Ignore) {
  auto transport = NewMcpStdio(options, std::move(receive));
  EXPECT_TRUE(transport.ok()) << transport.error().message();
  return *std::move(transport);
}

JsonRpcRequest CallOf(int64_t id, const std::string& tool, Json arguments = Json::Of({})) {
  return {id, "tools/call", Json::Of({{"name", tool}, {"arguments", std::move(arguments)}})};
}

McpOutcome Ask(McpTransport& transport, int64_t id, const std::string& tool,
               Json arguments = Json::Of({}), milliseconds time = seconds(20)) {
  return transport.Ask(CallOf(id, tool, std::move(arguments)), {time, {}});
}

std::string TextOf(const McpOutcome& outcome) {
  if (const auto* failure = std::get_if<McpFailure>(&outcome)) return failure->error.message();
  if (const auto* error = std::get_if<JsonRpcError>(&outcome)) return error->message;
  return std::get<Json>(outcome).Find("content")->AsArray().at(0).Find("text")->AsString();
}

const McpFailure& FailureOf(const McpOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<McpFailure>(outcome)) << TextOf(outcome);
  return std::get<McpFailure>(outcome);
}

TEST(McpStdio, ARequestGetsItsAnswer) {
  auto server = Started(Scripted());
  EXPECT_EQ(TextOf(Ask(*server, 1, "echo", Json::Of({{"text", "gr\xC3\xBC\xC3\x9F\nyou"}}))),
            "gr\xC3\xBC\xC3\x9F\nyou");
  EXPECT_EQ(TextOf(Ask(*server, 2, "error")), "broken");
  EXPECT_TRUE(server->alive());
}

TEST(McpStdio, ManyThreadsGetTheirOwnAnswers) {
  auto server = Started(Scripted());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string text = std::to_string(t * 1000 + i);
        EXPECT_EQ(TextOf(Ask(*server, 1 + t * 1000 + i, "echo", Json::Of({{"text", text}}))), text);
      }
    });
  }
}

TEST(McpStdio, LinesThatAreNoMessagesArePassedOver) {
  auto server = Started(Scripted("chatty"));
  EXPECT_EQ(TextOf(Ask(*server, 1, "garbage")), "after garbage");
}

TEST(McpStdio, AnswersToOtherIdsAreDropped) {
  auto server = Started(Scripted());
  EXPECT_EQ(TextOf(Ask(*server, 1, "wrong-id")), "yours");
}

TEST(McpStdio, ASecondAnswerIsDropped) {
  auto server = Started(Scripted());
  EXPECT_EQ(TextOf(Ask(*server, 1, "twice")), "first");
  EXPECT_EQ(TextOf(Ask(*server, 2, "echo", Json::Of({{"text", "x"}}))), "x");
}

TEST(McpStdio, ALateAnswerIsDropped) {
  auto server = Started(Scripted());
  const McpOutcome held = Ask(*server, 1, "hold", Json::Of({}), milliseconds(300));
  EXPECT_EQ(FailureOf(held).error.code(), ErrorCode::kDeadline);
  EXPECT_FALSE(FailureOf(held).refused);
  // The server now answers the first request, then this one.
  EXPECT_EQ(TextOf(Ask(*server, 2, "echo", Json::Of({{"text", "mine"}}))), "mine");
}

TEST(McpStdio, AMalformedAnswerEndsItsRequest) {
  auto server = Started(Scripted());
  const McpOutcome outcome = Ask(*server, 1, "malformed");
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(server->alive());
}

TEST(McpStdio, AStopEndsTheWait) {
  auto server = Started(Scripted());
  std::stop_source stop;
  std::jthread stopper([&] {
    EXPECT_EQ(TextOf(Ask(*server, 7, "echo", Json::Of({{"text", "x"}}))), "x");
    stop.request_stop();
  });
  const McpOutcome outcome = server->Ask(CallOf(1, "never"), {seconds(60), stop.get_token()});
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kStopped);
}

TEST(McpStdio, DeathEndsEveryRequestAndSaysHow) {
  auto server = Started(Scripted());
  std::vector<std::jthread> threads;
  for (int64_t id = 1; id <= 4; ++id) {
    threads.emplace_back([&, id] {
      const McpOutcome outcome = Ask(*server, id, "never", Json::Of({}), seconds(60));
      EXPECT_TRUE(FailureOf(outcome).session_lost);
      EXPECT_NE(TextOf(outcome).find("exit code 7"), std::string::npos);
      EXPECT_NE(TextOf(outcome).find("its last words: half a line and gone"), std::string::npos);
    });
  }
  const McpOutcome outcome = Ask(*server, 10, "half");
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kUnavailable);
  threads.clear();
  EXPECT_FALSE(server->alive());
  EXPECT_TRUE(FailureOf(Ask(*server, 11, "echo")).refused);
}

TEST(McpStdio, ALineThatIsTooLongEndsTheConnection) {
  McpStdioOptions options = Scripted();
  options.max_message_bytes = 200000;
  auto server = Started(options);
  EXPECT_EQ(TextOf(Ask(*server, 1, "huge", Json::Of({{"bytes", 100000}}))).size(), 100000u);
  const McpOutcome outcome = Ask(*server, 2, "huge", Json::Of({{"bytes", 10000000}}));
  EXPECT_NE(TextOf(outcome).find("a line of more than 200000 bytes"), std::string::npos);
  EXPECT_FALSE(server->alive());
}

TEST(McpStdio, WhatTheServerNeverReadCanBeTriedAgain) {
  auto server = Started(Scripted());
  EXPECT_EQ(TextOf(Ask(*server, 1, "deaf")), "I stop reading");
  // The first fills the pipe and is half sent; the second waits behind it.
  const Json big = Json::Of({{"text", std::string(1 << 20, 'x')}});
  EXPECT_FALSE(FailureOf(Ask(*server, 2, "echo", big, milliseconds(200))).refused);
  const McpOutcome second = Ask(*server, 3, "echo", big, milliseconds(200));
  EXPECT_EQ(FailureOf(second).error.code(), ErrorCode::kDeadline);
  EXPECT_TRUE(FailureOf(second).refused);
}

TEST(McpStdio, WhatTheServerSaysOfItsOwnAccordIsReceivedAndAnswered) {
  std::atomic<int> notifications = 0;
  auto server =
      Started(Scripted(), [&](const JsonRpcMessage& message) -> std::optional<JsonRpcMessage> {
        if (const auto* request = std::get_if<JsonRpcRequest>(&message)) {
          return JsonRpcResponse{request->id, Json::Of({{"for", request->method}})};
        }
        ++notifications;
        return std::nullopt;
      });
  EXPECT_EQ(TextOf(Ask(*server, 1, "changed")), "changed");
  EXPECT_EQ(notifications, 3);
  EXPECT_NE(TextOf(Ask(*server, 2, "ping")).find(R"("result": {"for": "ping"})"),
            std::string::npos);
}

TEST(McpStdio, SecretsDoNotShowInItsLastWords) {
  McpStdioOptions options = Scripted("exits");
  options.secrets = {"tok-12345"};
  auto server = Started(options);
  const McpOutcome outcome = Ask(*server, 1, "echo");
  EXPECT_NE(TextOf(outcome).find("exit code 3; its last words: the key *** is wrong"),
            std::string::npos)
      << TextOf(outcome);
}

TEST(McpStdio, AProgramThatIsNotThereIsAnError) {
  McpStdioOptions options;
  options.command = {"no-such-program-anywhere"};
  EXPECT_EQ(NewMcpStdio(options, Ignore).error().code(), ErrorCode::kNotFound);
}

TEST(McpStdio, NoProcessIsLeftBehind) {
  pid_t pid = 0;
  {
    auto server = Started(Scripted());
    pid = std::stoi(TextOf(Ask(*server, 1, "pid")));
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace hone
