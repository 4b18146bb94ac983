// Programs whose sessions share processes, and programs that are reset between sessions: in Python,
// by the package that travels in the binary.

#include "tools/command/many_sessions.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/file.h"
#include "tools/command/command_tool.h"
#include "tools/sessions.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kBasket[] = R"(
import os, time
import hone

@hone.tools
class Basket:
    def __init__(self, session):
        self.things, self.seed = [], session.seed

    @hone.tool
    def add(self, thing: str) -> dict:
        if thing == "hang": time.sleep(1000)
        if thing == "die": os._exit(3)
        self.things.append(thing)
        return {"things": self.things, "seed": self.seed, "process": os.getpid()}

hone.run()
)";

constexpr char kCounter[] = R"(
import os
import hone

count, seed = 0, None

@hone.reset
def fresh(number):
    global count, seed
    count, seed = 0, number

@hone.tool(effect="writes")
def add(thing: str) -> dict:
    global count
    count += 1
    return {"count": count, "seed": seed, "process": os.getpid()}

hone.run()
)";

class SessionProgramTest : public ::testing::Test {
 protected:
  std::shared_ptr<Toolkit> Start(const char* program, int64_t processes = 1) {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / "tool.py", program).ok());
    CommandOptions options;
    options.command = {"/usr/bin/python3", (folder_.path() / "tool.py").string()};
    options.processes = processes;
    auto toolkit = NewCommandToolkit(options);
    EXPECT_TRUE(toolkit.ok()) << toolkit.error().message();
    return *toolkit;
  }

  static ToolReply Add(Toolkit& toolkit, const char* thing, Session* session,
                       milliseconds time = seconds(60)) {
    return toolkit.Call("add", Json::Of({{"thing", thing}}), session, {.time = time});
  }
  static Json Value(const ToolReply& reply, std::string_view member) {
    EXPECT_EQ(reply.status, CallStatus::kOk) << reply.content;
    const Result<Json> json = ParseJson(reply.content);
    const Json* found = json.ok() ? json->Find(member) : nullptr;
    return found == nullptr ? Json() : *found;
  }

  TemporaryDirectory folder_;
};

using ManySessionsTest = SessionProgramTest;

TEST_F(ManySessionsTest, OneProcessKeepsSessionsApart) {
  const auto toolkit = Start(kBasket);
  EXPECT_EQ(toolkit->sharing(), Sharing::kReplay);
  EXPECT_EQ(toolkit->sessions_at_once(), 0);
  // Equal seeds, as the samples of one group have them.
  auto one = *toolkit->Open(7), two = *toolkit->Open(7);
  const ToolReply first = Add(*toolkit, "pen", one.get());
  EXPECT_EQ(Value(first, "things"), Json(Json::Array{"pen"}));
  EXPECT_EQ(Value(first, "seed"), Json(7));
  const ToolReply other = Add(*toolkit, "cup", two.get());
  EXPECT_EQ(Value(other, "things"), Json(Json::Array{"cup"}));
  EXPECT_EQ(Value(Add(*toolkit, "ink", one.get()), "things"), Json(Json::Array{"pen", "ink"}));
  EXPECT_EQ(Value(first, "process"), Value(other, "process"));
  // What is over is forgotten, and its process goes on.
  one = nullptr;
  const auto three = *toolkit->Open(9);
  const ToolReply next = Add(*toolkit, "box", three.get());
  EXPECT_EQ(Value(next, "things"), Json(Json::Array{"box"}));
  EXPECT_EQ(Value(next, "process"), Value(first, "process"));
}

TEST_F(ManySessionsTest, SessionsAreSpreadOverProcesses) {
  const auto toolkit = Start(kBasket, 3);
  std::vector<std::unique_ptr<Session>> sessions;
  std::map<int64_t, int> used;
  for (int i = 0; i < 6; ++i) {
    sessions.push_back(*toolkit->Open(i));
    ++used[Value(Add(*toolkit, "x", sessions.back().get()), "process").AsInteger()];
  }
  EXPECT_EQ(used.size(), 3u);
  for (const auto& [process, count] : used) EXPECT_EQ(count, 2) << process;
}

TEST_F(ManySessionsTest, OneThatHangsCostsItsDeadlineAndOthersAreBuiltAgain) {
  const auto toolkit = Start(kBasket);
  std::vector<Toolbox::Kit> kits;
  kits.push_back({toolkit, {}});
  const auto toolbox = std::make_shared<const Toolbox>(*Toolbox::Of(std::move(kits)));
  const Toolbox::Tool& tool = *toolbox->Find("add");
  Sessions innocent(toolbox, 1), guilty(toolbox, 2);
  const auto call = [&](Sessions& sessions, const char* thing, milliseconds time) {
    const Json arguments = Json::Of({{"thing", thing}});
    const Sessions::Place place = sessions.Enter(tool, arguments);
    ToolReply reply = sessions.Perform(place, tool, arguments, {.time = time});
    if (reply.session_lost) reply = sessions.Perform(place, tool, arguments, {.time = time});
    sessions.Settle(place, reply.status == CallStatus::kOk);
    return reply;
  };
  EXPECT_EQ(Value(call(innocent, "pen", seconds(60)), "things"), Json(Json::Array{"pen"}));
  EXPECT_EQ(call(guilty, "hang", milliseconds(200)).status, CallStatus::kTimeout);
  // Its state lived in the process that was killed; it is there again.
  EXPECT_EQ(Value(call(innocent, "ink", seconds(60)), "things"), Json(Json::Array{"pen", "ink"}));
}

TEST_F(ManySessionsTest, OneThatDiesSaysSoAndTheNextIsReady) {
  const auto toolkit = Start(kBasket);
  const auto one = *toolkit->Open(1);
  const ToolReply died = Add(*toolkit, "die", one.get());
  EXPECT_TRUE(died.session_lost);
  EXPECT_NE(died.content.find("exit code 3"), std::string::npos) << died.content;
  const auto two = *toolkit->Open(2);
  EXPECT_EQ(Value(Add(*toolkit, "pen", two.get()), "things"), Json(Json::Array{"pen"}));
  EXPECT_TRUE(Add(*toolkit, "pen", one.get()).session_lost);
}

TEST_F(ManySessionsTest, ManyThreadsKeepTheirSessions) {
  const auto toolkit = Start(kBasket, 2);
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&, thread] {
      const auto session = *toolkit->Open(thread);
      for (int i = 1; i <= 10; ++i) {
        const ToolReply reply = Add(*toolkit, "x", session.get());
        EXPECT_EQ(Value(reply, "things").AsArray().size(), static_cast<size_t>(i));
        EXPECT_EQ(Value(reply, "seed"), Json(thread));
      }
    });
  }
}

using BorrowedProcessTest = SessionProgramTest;

TEST_F(BorrowedProcessTest, AProcessIsResetForEachTrajectory) {
  const auto toolkit = Start(kCounter);
  EXPECT_EQ(toolkit->sharing(), Sharing::kReplay);
  EXPECT_EQ(toolkit->sessions_at_once(), 1);
  EXPECT_EQ(toolkit->tools()[0].resource, "session");
  auto one = *toolkit->Open(4);
  const ToolReply first = Add(*toolkit, "x", one.get());
  EXPECT_EQ(Value(first, "count"), Json(1));
  EXPECT_EQ(Value(first, "seed"), Json(4));
  EXPECT_EQ(Value(Add(*toolkit, "x", one.get()), "count"), Json(2));
  one = nullptr;
  const auto two = *toolkit->Open(5);
  const ToolReply next = Add(*toolkit, "x", two.get());
  EXPECT_EQ(Value(next, "count"), Json(1));
  EXPECT_EQ(Value(next, "seed"), Json(5));
  EXPECT_EQ(Value(next, "process"), Value(first, "process")) << "it was not started again";
}

TEST_F(BorrowedProcessTest, TrajectoriesDoNotMeet) {
  const auto toolkit = Start(kCounter);
  const auto one = *toolkit->Open(4);
  EXPECT_EQ(Value(Add(*toolkit, "x", one.get()), "count"), Json(1));
  const auto two = *toolkit->Open(5);
  std::stop_source stop;
  stop.request_stop();
  const ToolReply waited = toolkit->Call("add", Json::Of({{"thing", "x"}}), two.get(),
                                         {.time = seconds(60), .stop = stop.get_token()});
  EXPECT_EQ(waited.status, CallStatus::kTimeout) << "the process is another's";
  EXPECT_EQ(Value(Add(*toolkit, "x", one.get()), "count"), Json(2));
}

}  // namespace
}  // namespace hone
