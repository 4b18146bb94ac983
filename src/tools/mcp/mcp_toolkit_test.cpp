#include "tools/mcp/mcp_toolkit.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/scripted_mcp.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const CallLimits kPlenty{seconds(20), {}};

std::shared_ptr<Toolkit> KitOf(const McpOptions& options) {
  auto kit = NewMcpToolkit(options);
  EXPECT_TRUE(kit.ok()) << kit.error().message();
  return *std::move(kit);
}

ToolReply Call(Toolkit& kit, Session* session, const std::string& tool,
               Json arguments = Json::Of({})) {
  return kit.Call(tool, arguments, session, kPlenty);
}

TEST(McpToolkit, OffersTheServersToolsAndCallsThem) {
  const auto kit = KitOf(ScriptedMcp());
  EXPECT_GT(kit->tools().size(), 10u);
  const auto session = *kit->Open(1);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(kit->sharing(), Sharing::kOnce);
  EXPECT_EQ(Call(*kit, session.get(), "echo", Json::Of({{"text", "hi"}})), Answered("hi"));
  EXPECT_EQ(Call(*kit, session.get(), "is-error"), Refuted("no such file"));
  EXPECT_EQ(Call(*kit, session.get(), "invalid"), Refuted("no such city"));
  EXPECT_EQ(Call(*kit, session.get(), "error").status, CallStatus::kUnavailable);
  EXPECT_EQ(Call(*kit, session.get(), "number").status, CallStatus::kUnavailable);
}

TEST(McpToolkit, OnlyTheToolsThatWereAskedFor) {
  McpOptions options = ScriptedMcp();
  options.only = {"ping", "echo"};
  const auto kit = KitOf(options);
  ASSERT_EQ(kit->tools().size(), 2u);
  EXPECT_EQ(kit->tools()[0].name, "echo");
  options.only = {"ecko"};
  const auto none = NewMcpToolkit(options);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message().find("no tool \"ecko\" (did you mean \"echo\"?)"),
            std::string::npos)
      << none.error().message();
}

TEST(McpToolkit, ASharedServerIsTheSameForAllAndSurvivesDeath) {
  const auto kit = KitOf(ScriptedMcp());
  const auto one = *kit->Open(1), two = *kit->Open(2);
  const ToolReply pid = Call(*kit, one.get(), "pid");
  EXPECT_EQ(Call(*kit, two.get(), "pid"), pid);
  const ToolReply died = Call(*kit, one.get(), "die");
  EXPECT_EQ(died.status, CallStatus::kUnavailable);
  EXPECT_FALSE(died.session_lost);
  EXPECT_EQ(Call(*kit, one.get(), "pid").status, CallStatus::kOk);
  EXPECT_NE(Call(*kit, two.get(), "pid"), pid);
}

TEST(McpToolkit, AServerPerSessionIsItsOwnAndIsLostWithIt) {
  McpOptions options = ScriptedMcp();
  options.per_session = true;
  const auto kit = KitOf(options);
  const auto one = *kit->Open(1), two = *kit->Open(2);
  EXPECT_EQ(kit->sharing(), Sharing::kReplay);
  EXPECT_EQ(Call(*kit, one.get(), "count"), Answered("1"));
  EXPECT_EQ(Call(*kit, one.get(), "count"), Answered("2"));
  EXPECT_EQ(Call(*kit, two.get(), "count"), Answered("1"));
  EXPECT_TRUE(Call(*kit, one.get(), "die").session_lost);
  const ToolReply after = Call(*kit, one.get(), "echo");
  EXPECT_TRUE(after.session_lost);
  EXPECT_TRUE(after.refused);
  EXPECT_EQ(Call(*kit, two.get(), "count"), Answered("2"));
}

TEST(McpToolkit, ACallThatTakesTooLongIsATimeout) {
  const auto kit = KitOf(ScriptedMcp());
  const auto session = *kit->Open(1);
  const ToolReply reply = kit->Call("never", Json::Of({}), session.get(), {milliseconds(200), {}});
  EXPECT_EQ(reply.status, CallStatus::kTimeout);
  EXPECT_EQ(reply.blame, Blame::kTool);
  EXPECT_FALSE(reply.refused);
}

TEST(McpToolkit, ATaskIsBegunWaitedForAndCancelledWhenLate) {
  const auto kit = KitOf(ScriptedMcp());
  const auto session = *kit->Open(1);
  EXPECT_EQ(Call(*kit, session.get(), "task"), Answered("done"));
  const ToolReply late =
      kit->Call("endless-task", Json::Of({}), session.get(), {milliseconds(200), {}});
  EXPECT_EQ(late.status, CallStatus::kTimeout);
  EXPECT_FALSE(late.refused);
  const std::string seen = Call(*kit, session.get(), "seen").content;
  EXPECT_NE(seen.find(R"("method": "tasks/cancel", "params": {"taskId": "endless-task"})"),
            std::string::npos);
}

TEST(McpToolkit, TheServerSeesOnlyTheEnvironmentItIsGiven) {
  ::setenv("HONE_TEST_HIDDEN", "hidden", 1);
  ::setenv("HONE_TEST_TOKEN", "s3cret-token", 1);
  McpOptions options = ScriptedMcp();
  options.environment = {"PLAIN=x y", "TOKEN=env:HONE_TEST_TOKEN", "HONE_TEST_TOKEN"};
  const auto kit = KitOf(options);
  const auto session = *kit->Open(1);
  const Json environment = ParseJson(Call(*kit, session.get(), "env").content).value();
  EXPECT_EQ(*environment.Find("PLAIN"), Json("x y"));
  EXPECT_EQ(*environment.Find("TOKEN"), Json("s3cret-token"));
  EXPECT_EQ(*environment.Find("HONE_TEST_TOKEN"), Json("s3cret-token"));
  EXPECT_NE(environment.Find("PATH"), nullptr);
  EXPECT_EQ(environment.Find("HONE_TEST_HIDDEN"), nullptr);
}

TEST(McpToolkit, AServerThatCannotBeUsedIsSaidToBeSo) {
  auto message = [](const McpOptions& options) {
    const auto kit = NewMcpToolkit(options);
    return kit.ok() ? "fine" : kit.error().message();
  };
  McpOptions absent;
  absent.command = {"no-such-program-anywhere"};
  EXPECT_NE(message(absent).find("cannot start no-such-program-anywhere"), std::string::npos);
  EXPECT_NE(message(ScriptedMcp("exits")).find("exit code 3"), std::string::npos);
  EXPECT_NE(message(ScriptedMcp("bad-list")).find("has no \"inputSchema\""), std::string::npos);
  McpOptions closed;
  closed.url = "http://127.0.0.1:1/mcp";
  EXPECT_NE(message(closed).find("MCP server http://127.0.0.1:1/mcp: "), std::string::npos);
}

}  // namespace
}  // namespace hone
