#include "tools/mcp/mcp_client.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "support/scripted_mcp.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const McpLimits kPlenty{seconds(20), {}};

McpClient Scripted(const std::string& mode = "", McpClientOptions options = {}) {
  return McpClient(*McpConnectionOf(ScriptedMcp(mode)), options);
}

std::string TextOf(const McpOutcome& outcome) {
  if (const auto* failure = std::get_if<McpFailure>(&outcome)) return failure->error.message();
  if (const auto* error = std::get_if<JsonRpcError>(&outcome)) return error->message;
  return std::get<Json>(outcome).Find("content")->AsArray().at(0).Find("text")->AsString();
}

std::string Call(McpClient& client, const std::string& tool, Json arguments = Json::Of({})) {
  return TextOf(client.CallTool(tool, arguments, kPlenty));
}

Json Text(const std::string& text) { return Json::Of({{"text", text}}); }

const McpFailure& FailureOf(const McpOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<McpFailure>(outcome)) << TextOf(outcome);
  return std::get<McpFailure>(outcome);
}

TEST(McpClient, AgreesOnAVersionThenListsAndCalls) {
  McpClient client = Scripted();
  const auto tools = client.ListTools(kPlenty);
  ASSERT_TRUE(tools.ok()) << tools.error().message();
  EXPECT_GT(tools->size(), 10u);
  EXPECT_EQ(client.version(), "2025-11-25");
  EXPECT_EQ(Call(client, "echo", Text("hi")), "hi");
  EXPECT_EQ(client.connections(), 1);
  const auto seen = ParseJson(Call(client, "seen"));
  ASSERT_TRUE(seen.ok());
  std::vector<std::string> methods;
  for (const Json& message : seen->AsArray()) methods.push_back(message.Find("method")->AsString());
  EXPECT_EQ(methods, (std::vector<std::string>{"initialize", "notifications/initialized",
                                               "tools/list", "tools/call"}));
}

TEST(McpClient, TakesOlderVersionsAndRefusesUnknownOnes) {
  for (const char* version : {"2024-11-05", "2025-03-26", "2025-06-18"}) {
    McpClient client = Scripted(std::string("version=") + version);
    EXPECT_EQ(Call(client, "echo", Text(version)), version);
    EXPECT_EQ(client.version(), version);
  }
  McpClient client = Scripted("version=1999-01-01");
  const McpOutcome outcome = client.CallTool("echo", Json::Of({}), kPlenty);
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kVersion);
  EXPECT_NE(TextOf(outcome).find("speaks version \"1999-01-01\" of MCP"), std::string::npos);
}

TEST(McpClient, SpeaksTheVersionWithoutAHandshake) {
  McpClient client = Scripted("stateless");
  EXPECT_EQ(Call(client, "echo", Text("hi")), "hi");
  EXPECT_EQ(client.version(), "2026-07-28");
  const auto seen = ParseJson(Call(client, "seen"));
  const Json* meta = seen->AsArray().back().Find("params")->Find("_meta");
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(*meta->Find("io.modelcontextprotocol/protocolVersion"), Json("2026-07-28"));
  EXPECT_NE(meta->Find("io.modelcontextprotocol/clientCapabilities"), nullptr);
  // A server that wants something of us first does not get it.
  const McpOutcome outcome = client.CallTool(
      "echo", Json::Of({{"more", Json::Of({{"resultType", "input_required"}})}}), kPlenty);
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kUnsupported);
}

TEST(McpClient, AListHasPages) {
  McpClient client = Scripted("pages");
  const auto tools = client.ListTools(kPlenty);
  ASSERT_TRUE(tools.ok()) << tools.error().message();
  EXPECT_GT(tools->size(), 10u);
  EXPECT_EQ(*tools->front().Find("name"), Json("echo"));
}

TEST(McpClient, AListThatDoesNotEndIsAnError) {
  McpClient client = Scripted("loop");
  EXPECT_FALSE(client.ListTools(kPlenty).ok());
}

TEST(McpClient, CountsChangesOfTheList) {
  McpClient client = Scripted();
  EXPECT_EQ(client.list_changes(), 0);
  EXPECT_EQ(Call(client, "changed"), "changed");
  EXPECT_EQ(client.list_changes(), 1);
}

TEST(McpClient, AnswersPingAndRefusesWhatItDoesNotOffer) {
  McpClient client = Scripted();
  EXPECT_NE(Call(client, "ping").find(R"("id": "of the server", "result": {})"), std::string::npos);
  EXPECT_NE(Call(client, "roots").find("this client does not offer roots/list"), std::string::npos);
}

// The cancellation that the server got for a call of "never" that ended like this.
Json CancellationAfter(McpClient& client, const McpLimits& limits, ErrorCode code) {
  EXPECT_EQ(FailureOf(client.CallTool("never", Json::Of({}), limits)).error.code(), code);
  const auto seen = ParseJson(Call(client, "seen"));
  const Json& last = seen->AsArray().back();
  EXPECT_EQ(*last.Find("method"), Json("notifications/cancelled"));
  const Json& never = seen->AsArray().at(seen->AsArray().size() - 2);
  EXPECT_EQ(*last.Find("params")->Find("requestId"), *never.Find("id"));
  return *last.Find("params")->Find("reason");
}

TEST(McpClient, ACallThatRunsOutOfTimeIsCancelledAtTheServer) {
  McpClient client = Scripted();
  EXPECT_EQ(Call(client, "echo", Text("up")), "up");
  EXPECT_EQ(CancellationAfter(client, {milliseconds(1000), {}}, ErrorCode::kDeadline),
            Json("timed out"));
}

TEST(McpClient, ACallThatIsStoppedIsCancelledAtTheServer) {
  McpClient client = Scripted();
  std::stop_source stop;
  std::jthread stopper([&] {
    // Once the server has seen the call.
    while (Call(client, "seen").find(R"("name": "never")") == std::string::npos) {
      std::this_thread::yield();
    }
    stop.request_stop();
  });
  const McpOutcome outcome =
      client.CallTool("never", Json::Of({}), {seconds(60), stop.get_token()});
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kStopped);
  stopper.join();
  EXPECT_NE(Call(client, "seen").find(R"("reason": "stopped")"), std::string::npos);
}

TEST(McpClient, AServerThatDiesIsStartedAgainByTheNextCall) {
  McpClient client = Scripted();
  const std::string pid = Call(client, "pid");
  const McpOutcome died = client.CallTool("die", Json::Of({}), kPlenty);
  EXPECT_EQ(FailureOf(died).error.code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(FailureOf(died).refused);  // who knows what it did before
  EXPECT_NE(Call(client, "pid"), pid);
  EXPECT_EQ(client.connections(), 2);
}

TEST(McpClient, AServerKilledFromOutsideBetweenCallsIsNoFailure) {
  McpClient client = Scripted();
  const int pid = std::stoi(Call(client, "pid"));
  ::kill(pid, SIGKILL);
  // Whether or not its end has been seen by now, the call is made by a new server, or was in the
  // dead one's pipe and cannot be vouched for.
  const McpOutcome outcome = client.CallTool("echo", Text("hi"), kPlenty);
  if (std::holds_alternative<McpFailure>(outcome)) {
    EXPECT_FALSE(FailureOf(outcome).refused);
    EXPECT_NE(TextOf(outcome).find("exit code 137"), std::string::npos);
  }
  EXPECT_EQ(Call(client, "echo", Text("hi")), "hi");
  EXPECT_EQ(client.connections(), 2);
}

TEST(McpClient, WithoutRestartALostServerIsALostSession) {
  McpClient client = Scripted("", {.startup = seconds(20), .restart = false});
  EXPECT_TRUE(FailureOf(client.CallTool("die", Json::Of({}), kPlenty)).session_lost);
  const McpOutcome after = client.CallTool("echo", Json::Of({}), kPlenty);
  EXPECT_TRUE(FailureOf(after).session_lost);
  EXPECT_TRUE(FailureOf(after).refused);
  EXPECT_EQ(client.connections(), 1);
}

TEST(McpClient, AServerThatDoesNotStartIsNotStartedInARush) {
  std::atomic<int> attempts = 0;
  McpClient client(
      [&](McpReceive) -> Result<std::unique_ptr<McpTransport>> {
        ++attempts;
        return Error(ErrorCode::kUnavailable, "no");
      },
      {});
  const auto begin = std::chrono::steady_clock::now();
  McpOutcome outcome = Json();
  while (attempts < 4) outcome = client.CallTool("x", Json::Of({}), kPlenty);
  // Pauses of 100, 200 and 400 ms lie between them.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(700));
  EXPECT_TRUE(FailureOf(outcome).refused);
  // A call that would not see the end of the pause is told so at once.
  outcome = client.CallTool("x", Json::Of({}), {milliseconds(50), {}});
  ASSERT_TRUE(FailureOf(outcome).retry_after.has_value());
  EXPECT_GT(*FailureOf(outcome).retry_after, milliseconds(50));
  EXPECT_EQ(attempts, 4);
}

TEST(McpClient, AServerThatExitsSaysWhy) {
  McpClient client = Scripted("exits");
  const McpOutcome outcome = client.CallTool("echo", Json::Of({}), kPlenty);
  EXPECT_NE(TextOf(outcome).find("exit code 3; its last words: the key tok-12345 is wrong"),
            std::string::npos)
      << TextOf(outcome);
}

TEST(McpClient, AServerThatDiesAfterTheHandshakeIsAFailureNotAHang) {
  McpClient client = Scripted("dies-after-handshake");
  const McpOutcome outcome = client.CallTool("echo", Json::Of({}), kPlenty);
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kUnavailable);
}

TEST(McpClient, AServerThatNeverAnswersCostsTheStartupTimeAtMost) {
  McpClient client = Scripted("silent", {.startup = milliseconds(300)});
  const McpOutcome outcome = client.CallTool("echo", Json::Of({}), kPlenty);
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kDeadline);
  EXPECT_TRUE(FailureOf(outcome).refused);
}

TEST(McpClient, AStartGoesOnWhenTheCallThatNeededItRanOutOfTime) {
  McpClient client = Scripted();
  const McpOutcome outcome = client.CallTool("echo", Text("x"), {milliseconds(1), {}});
  EXPECT_EQ(FailureOf(outcome).error.code(), ErrorCode::kDeadline);
  EXPECT_TRUE(FailureOf(outcome).refused);
  EXPECT_EQ(Call(client, "count"), "1");
  EXPECT_EQ(client.connections(), 1);
}

}  // namespace
}  // namespace hone
