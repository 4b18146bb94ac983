#include "tools/command/command_tool.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A program whose tool `t` does what its argument `do` says.
constexpr char kProgram[] = R"(
import json, os, sys, time
def say(reply): print(json.dumps(reply), flush=True)
say({"tools": [{"name": "t", "description": "Does it.", "parameters": {"type": "object"}}]})
count = 0
for line in sys.stdin:
    call = json.loads(line)
    number, what = call["id"], call["arguments"].get("do")
    count += 1
    if what == "hang": time.sleep(1000)
    elif what == "die": print("I die", file=sys.stderr, flush=True); os._exit(3)
    elif what == "garbage": print("Traceback: oops", flush=True)
    elif what == "no id": say({"result": 1})
    elif what == "both": say({"id": number, "result": 1, "error": "x"})
    elif what == "huge": print("x" * 200000, flush=True)
    elif what == "not utf-8": sys.stdout.buffer.write(b"\xff\xfe\n"); sys.stdout.flush()
    elif what == "foreign":
        for other in (number - 1, number + 1, "x", None): say({"id": other, "result": "wrong"})
        say({"id": number, "result": "right"})
    elif what == "twice": say({"id": number, "result": count}); say({"id": number, "result": "again"})
    elif what == "error": say({"id": number, "error": "no such city"})
    elif what == "busy": say({"id": number, "error": "busy", "retry": True, "retry_after_ms": 70})
    elif what == "denied": say({"id": number, "error": "not you", "status": "denied"})
    elif what == "status": say({"id": number, "error": "?", "status": "odd"})
    elif what == "echo": say({"id": number, "result": call})
    elif what == "env": say({"id": number, "result": {k: os.environ.get(k) for k in ("A", "PATH")}})
    elif what == "leave": say({"id": number, "result": "bye"}); os._exit(0)
    else: say({"id": number, "result": count})
)";

class CommandToolTest : public ::testing::Test {
 protected:
  CommandOptions Options(const std::string& program = kProgram) {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / "tool.py", program).ok());
    CommandOptions options;
    options.command = {"python3", (folder_.path() / "tool.py").string()};
    options.max_line_bytes = 100000;
    return options;
  }
  std::shared_ptr<Toolkit> Start(const CommandOptions& options) {
    auto toolkit = NewCommandToolkit(options);
    EXPECT_TRUE(toolkit.ok()) << toolkit.error().message();
    return *toolkit;
  }
  static ToolReply Do(Toolkit& toolkit, const char* what, Session* session = nullptr,
                      milliseconds time = seconds(20)) {
    return toolkit.Call("t", Json::Of({{"do", what}}), session, {.time = time});
  }

  TemporaryDirectory folder_;
};

TEST_F(CommandToolTest, ResultsErrorsAndHintsAreTyped) {
  const auto toolkit = Start(Options());
  ASSERT_EQ(toolkit->tools().size(), 1u);
  EXPECT_EQ(toolkit->tools()[0].description, "Does it.");
  EXPECT_EQ(Do(*toolkit, "count"), Answered("1"));
  EXPECT_EQ(Do(*toolkit, "error"), Refuted("no such city"));
  const ToolReply busy = Do(*toolkit, "busy");
  EXPECT_EQ(busy.status, CallStatus::kUnavailable);
  EXPECT_TRUE(busy.refused);
  EXPECT_EQ(busy.retry_after, milliseconds(70));
  EXPECT_EQ(Do(*toolkit, "denied").status, CallStatus::kDenied);
  EXPECT_EQ(Do(*toolkit, "echo").content, R"({"id":5,"tool":"t","arguments":{"do":"echo"}})");
}

TEST_F(CommandToolTest, RepliesToOtherCallsAreDropped) {
  const auto toolkit = Start(Options());
  EXPECT_EQ(Do(*toolkit, "foreign"), Answered("right"));
  EXPECT_EQ(Do(*toolkit, "twice"), Answered("2"));
  // The second reply to the call before is in the pipe now.
  EXPECT_EQ(Do(*toolkit, "count"), Answered("3"));
}

TEST_F(CommandToolTest, AProgramThatHangsIsReplacedAndNotUsedAgain) {
  const auto toolkit = Start(Options());
  EXPECT_EQ(Do(*toolkit, "count"), Answered("1"));
  const ToolReply late = Do(*toolkit, "hang", nullptr, milliseconds(100));
  EXPECT_EQ(late.status, CallStatus::kTimeout);
  EXPECT_EQ(late.blame, Blame::kTool);
  EXPECT_EQ(Do(*toolkit, "count"), Answered("1"));  // a fresh one counts from the beginning
}

TEST_F(CommandToolTest, AStopEndsTheCall) {
  const auto toolkit = Start(Options());
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  const ToolReply reply = toolkit->Call("t", Json::Of({{"do", "hang"}}), nullptr,
                                        {.time = seconds(1000), .stop = stop.get_token()});
  EXPECT_EQ(reply.status, CallStatus::kTimeout);
}

TEST_F(CommandToolTest, NonsenseAndDeathAreTypedAndTheNextCallWorks) {
  const auto toolkit = Start(Options());
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"garbage", "Traceback: oops"}, {"no id", "\"id\""},       {"both", "either"},
      {"huge", "100000 bytes"},       {"not utf-8", "no reply"}, {"status", "one of tool_error"},
      {"die", "exit code 3"},
  };
  for (const auto& [what, part] : cases) {
    const ToolReply reply = Do(*toolkit, what);
    EXPECT_EQ(reply.status, CallStatus::kUnavailable) << what;
    EXPECT_EQ(reply.blame, Blame::kTool) << what;
    EXPECT_FALSE(reply.refused) << what;
    EXPECT_NE(reply.content.find(part), std::string::npos) << reply.content;
    EXPECT_EQ(Do(*toolkit, "count"), Answered("1")) << what;
  }
  EXPECT_NE(Do(*toolkit, "die").content.find("it last wrote:\nI die"), std::string::npos);
}

TEST_F(CommandToolTest, AProgramThatLeavesAfterAnAnswerIsStartedAgain) {
  const auto toolkit = Start(Options());
  EXPECT_EQ(Do(*toolkit, "leave"), Answered("bye"));
  // It may be caught on its way out, once.
  ToolReply reply = Do(*toolkit, "count");
  if (reply.status == CallStatus::kUnavailable) reply = Do(*toolkit, "count");
  EXPECT_EQ(reply, Answered("1"));
}

TEST_F(CommandToolTest, ATrajectoryCanHaveAProgramOfItsOwn) {
  CommandOptions options = Options();
  options.per_session = true;
  const auto toolkit = Start(options);
  const auto one = *toolkit->Open(11), two = *toolkit->Open(12);
  EXPECT_EQ(toolkit->sharing(), Sharing::kReplay);
  EXPECT_EQ(Do(*toolkit, "count", one.get()), Answered("1"));
  EXPECT_EQ(Do(*toolkit, "count", one.get()), Answered("2"));
  EXPECT_EQ(Do(*toolkit, "count", two.get()), Answered("1"));
  EXPECT_NE(Do(*toolkit, "echo", two.get()).content.find(R"("session":"12")"), std::string::npos);
  EXPECT_TRUE(Do(*toolkit, "die", one.get()).session_lost);
  EXPECT_EQ(Do(*toolkit, "count", two.get()), Answered("3"));
  EXPECT_EQ(Do(*toolkit, "count", one.get()), Answered("1"));
}

TEST_F(CommandToolTest, SeveralProcessesAnswerAtTheSameTime) {
  CommandOptions options = Options();
  options.processes = 2;
  const auto toolkit = Start(options);
  std::stop_source stop;
  ToolReply hung;
  std::jthread other([&] {
    hung = toolkit->Call("t", Json::Of({{"do", "hang"}}), nullptr,
                         {.time = seconds(1000), .stop = stop.get_token()});
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Do(*toolkit, "count").status, CallStatus::kOk);
  stop.request_stop();
  other.join();
  EXPECT_EQ(hung.status, CallStatus::kTimeout);
}

TEST_F(CommandToolTest, ManyThreadsGetTheirOwnAnswers) {
  CommandOptions options = Options();
  options.processes = 2;
  const auto toolkit = Start(options);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        const Json arguments = Json::Of({{"do", "echo"}, {"who", thread * 100 + i}});
        const Result<Json> echo =
            ParseJson(toolkit->Call("t", arguments, nullptr, {.time = seconds(20)}).content);
        ASSERT_TRUE(echo.ok());
        EXPECT_EQ(*echo->Find("arguments"), arguments);
      }
    });
  }
}

TEST_F(CommandToolTest, TheEnvironmentIsAddedToOrWhole) {
  CommandOptions options = Options();
  options.environment = {"A=b"};
  EXPECT_NE(Do(*Start(options), "env").content.find("\"A\":\"b\",\"PATH\":\"/"), std::string::npos);
  options.inherit_environment = false;
  options.command[0] = "/usr/bin/env";
  options.command.insert(options.command.begin() + 1, "python3");
  options.environment.push_back("PATH=/usr/local/bin:/usr/bin:/bin");
  EXPECT_EQ(Do(*Start(options), "env").content,
            R"({"A":"b","PATH":"/usr/local/bin:/usr/bin:/bin"})");
}

TEST_F(CommandToolTest, ASpecFileStandsForTheAnnouncement) {
  CommandOptions options = Options(R"(
import json, sys
for line in sys.stdin: print(json.dumps({"id": json.loads(line)["id"], "result": "ok"}), flush=True)
)");
  options.specs = (folder_.path() / "specs.json").string();
  ASSERT_TRUE(
      WriteFileAtomic(options.specs, R"([{"name": "t", "parameters": {"type": "dict"}}])").ok());
  const auto toolkit = Start(options);
  EXPECT_EQ(toolkit->tools()[0].parameters, Json::Of({{"type", "object"}}));
  EXPECT_EQ(Do(*toolkit, "x"), Answered("ok"));
}

TEST_F(CommandToolTest, AProgramThatCannotStartSaysWhy) {
  auto message = [&](const std::string& program, int64_t startup_ms = 20000) {
    CommandOptions options = Options(program);
    options.startup_ms = startup_ms;
    const auto toolkit = NewCommandToolkit(options);
    return toolkit.ok() ? "" : toolkit.error().message();
  };
  EXPECT_NE(message("import nothing_of_that_name").find("ModuleNotFoundError"), std::string::npos);
  EXPECT_NE(message("print('hello')").find("first line must be"), std::string::npos);
  EXPECT_NE(message("print('{\"tools\": [{}]}')").find("name"), std::string::npos);
  EXPECT_NE(message("import time; time.sleep(100)", 100).find("within 100 ms"), std::string::npos);
  CommandOptions options;
  options.command = {"no-such-program-anywhere"};
  EXPECT_EQ(NewCommandToolkit(options).error().code(), ErrorCode::kNotFound);
}

TEST_F(CommandToolTest, AProgramThatIsGoneWhenItMustStartAgainIsUnavailable) {
  const auto toolkit = Start(Options());
  EXPECT_EQ(Do(*toolkit, "die").status, CallStatus::kUnavailable);
  std::filesystem::remove(folder_.path() / "tool.py");
  const ToolReply reply = Do(*toolkit, "count");
  EXPECT_EQ(reply.status, CallStatus::kUnavailable);
  EXPECT_TRUE(reply.refused);
  EXPECT_NE(reply.content.find("tool.py"), std::string::npos) << reply.content;
}

TEST(CommandTool, OptionsAreReadAndChecked) {
  auto recipe = Recipe::Parse(R"(command = ["python3", "x.py"]
environment = ["A=b"]
per_session = true
processes = 3)",
                              "tools.toml");
  ASSERT_TRUE(recipe.ok());
  const CommandOptions options = ReadCommandOptions(recipe->Root());
  EXPECT_TRUE(recipe->Finish().ok());
  EXPECT_EQ(options.command[1], "x.py");
  EXPECT_EQ(options.processes, 3);
  EXPECT_TRUE(options.per_session);
  auto wrong = Recipe::Parse("environment = [\"=b\"]", "tools.toml");
  (void)ReadCommandOptions(wrong->Root());
  const std::string message = wrong->Finish().error().message();
  EXPECT_NE(message.find("python3"), std::string::npos) << message;
  EXPECT_NE(message.find("NAME=value"), std::string::npos) << message;
}

}  // namespace
}  // namespace hone
