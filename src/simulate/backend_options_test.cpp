#include "simulate/backend_options.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/chat_server.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

Result<BackendOptions> Read(const std::string& toml) {
  Recipe recipe = Recipe::Parse(toml, "r.toml").value();
  BackendOptions backend = ReadBackend(recipe.Root());
  HONE_RETURN_IF_ERROR(recipe.Finish());
  return backend;
}

std::string ProblemsOf(const std::string& toml) {
  const Result<BackendOptions> backend = Read(toml);
  return backend.ok() ? "" : backend.error().message();
}

TEST(ReadAnsweringTest, ARecipeThatSaysNothingAsksTheRealTools) {
  const BackendOptions backend = Read("").value();
  EXPECT_EQ(backend.mode, ToolMode::kLive);
  EXPECT_EQ(backend.use(), ToolUse::kInEarnest);
  EXPECT_FALSE(backend.simulator || backend.user);
}

TEST(ReadAnsweringTest, OneRecipeIsBothTheRealAndTheSimulatedOne) {
  const std::string toml =
      "[answers]\njournal = \"j\"\nrecorded = \"r\"\n[simulator]\nkind = \"learned\"\n"
      "folder = \"sim\"\n[[faults]]\nkind = \"slow\"\n[redact]\nkeys = [\"pin\"]\n";
  BackendOptions backend = Read(toml).value();
  EXPECT_EQ(backend.mode, ToolMode::kLive);
  EXPECT_EQ(backend.simulator->folder, "sim");
  EXPECT_EQ(backend.faults.size(), 1u);
  backend.mode = ToolMode::kSimulate;
  EXPECT_EQ(backend.use(), ToolUse::kAnsweredElsewhere);
  EXPECT_EQ(ProblemOf(backend), std::nullopt);
}

TEST(ReadAnsweringTest, AllProblemsAreReportedAtOnce) {
  const std::string problems = ProblemsOf(
      "[answers]\nmode = \"simulate\"\njurnal = \"x\"\n[user]\nkind = \"endpoint\"\nfoo = 1\n");
  for (const char* part :
       {"needs a table [simulator]", "did you mean \"journal\"?", "user.url", "user.foo"}) {
    EXPECT_NE(problems.find(part), std::string::npos) << problems;
  }
  EXPECT_NE(ProblemsOf("[answers]\nmode = \"simulate\"\njournal = \"x\"\n").find("[simulator]"),
            std::string::npos);
  EXPECT_NE(ProblemsOf("[answers]\nmode = \"simulated\"\n").find("did you mean \"simulate\"?"),
            std::string::npos);
  EXPECT_NE(ProblemsOf("[simulator]\nkind = \"learned\"\n").find("simulator.folder"),
            std::string::npos)
      << "also where nobody is simulated";
}

class AnsweringTest : public testing::Test {
 protected:
  AnsweringTest() {
    auto tools = std::make_shared<ScriptedToolkit>();
    tools->Add("ask", Effect::kReads, [this](const Json&, const CallLimits&) {
      ++asked_;
      return Answered("\"real\"");
    });
    kit_ = tools;
    plan_.journal = (folder_.path() / "journal.sqlite").string();
    plan_.simulator = SimulatorOptions{};
    plan_.redaction = RedactionOptions::Default();
  }

  Result<CallOutcome> Call(ToolMode mode, const std::string& run, const std::string& tool = "ask",
                           Json arguments = Json::Object()) {
    BackendOptions backend = plan_;
    backend.mode = mode;
    ToolkitOptions tools{.kind = "scripted", .make = [this] { return Result(kit_); }};
    HONE_ASSIGN_OR_RETURN(const auto toolbox, MakeTools(backend, {tools}));
    const auto timeline = NewRealTimeline();
    HONE_ASSIGN_OR_RETURN(BackendParts answering,
                          MakeBackendParts(backend, run, 1, toolbox, timeline.get()));
    simulated_ = answering.simulated;
    Executor executor(std::move(answering.options), timeline.get());
    executor.Submit({{run, "t", "0", 0, 0},
                     tool,
                     std::move(arguments),
                     std::make_shared<Sessions>(toolbox, 1)});
    return executor.Next().value();
  }

  TemporaryDirectory folder_;
  std::shared_ptr<Toolkit> kit_;
  BackendOptions plan_;
  int asked_ = 0;
  bool simulated_ = false;
};

TEST_F(AnsweringTest, TheModeSaysWhoIsAsked) {
  EXPECT_EQ(Call(ToolMode::kLive, "a")->source, CallSource::kTool);
  EXPECT_EQ(Call(ToolMode::kRecord, "a")->source, CallSource::kTool);
  EXPECT_FALSE(simulated_);
  EXPECT_EQ(Call(ToolMode::kReplay, "a")->result.content, "\"real\"");
  EXPECT_FALSE(simulated_);
  const std::string imagined = Call(ToolMode::kSimulate, "b")->result.content;
  EXPECT_TRUE(simulated_);
  EXPECT_NE(imagined, "\"real\"");
  EXPECT_EQ(Call(ToolMode::kReplay, "b")->result.content, imagined);
  EXPECT_TRUE(simulated_) << "what is replayed was made up";
  EXPECT_EQ(Call(ToolMode::kReplayElseSimulate, "c")->result.content, "\"real\"");
  EXPECT_EQ(asked_, 2);
}

TEST_F(AnsweringTest, EqualCallsAreLookedUpInWhatWasRecordedElsewhere) {
  ASSERT_TRUE(Call(ToolMode::kRecord, "a").ok());
  plan_.recorded = plan_.journal;
  plan_.journal = (folder_.path() / "twin.sqlite").string();
  const auto outcome = Call(ToolMode::kReplayElseSimulate, "b");
  EXPECT_EQ(outcome->source, CallSource::kJournal);
  EXPECT_EQ(outcome->result.content, "\"real\"");
  EXPECT_EQ(Call(ToolMode::kSimulate, "c")->source, CallSource::kSimulator);
  plan_.recorded = "/nowhere.sqlite";
  EXPECT_NE(Call(ToolMode::kSimulate, "d").error().message().find("/nowhere.sqlite"),
            std::string::npos);
}

TEST_F(AnsweringTest, ARunHasOneSimulator) {
  ASSERT_TRUE(Call(ToolMode::kSimulate, "a").ok());
  ASSERT_TRUE(Call(ToolMode::kSimulate, "a").ok()) << "the same one goes on";
  plan_.simulator->kind = "endpoint";
  plan_.simulator->model.endpoint = {"http://127.0.0.1:1/v1", "m", ""};
  const auto other = Call(ToolMode::kSimulate, "a");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("answered by another simulator"), std::string::npos);
}

TEST_F(AnsweringTest, WhoPlaysToolsDoesNotPlayTheUser) {
  ChatServer server([](const ChatServer::Request&) {
    return ChatServer::Says(R"({"text": "Hello.", "stop": false})");
  });
  plan_.user = Read("[user]\nurl = \"" + server.url() + "\"\nmodel = \"m\"\n")->user;
  const Json arguments = Json::Of({{"script", "buy milk"}, {"conversation", Json::Array()}});
  for (const ToolMode mode : {ToolMode::kLive, ToolMode::kSimulate}) {
    EXPECT_EQ(Call(mode, "a", "user", arguments)->result.content,
              R"({"text":"Hello.","stop":false})");
  }
  EXPECT_EQ(server.requests(), 2);
  EXPECT_EQ(Call(ToolMode::kReplay, "a", "user", arguments)->result.content,
            R"({"text":"Hello.","stop":false})");
  EXPECT_EQ(server.requests(), 2) << "a replay asks nobody";
}

}  // namespace
}  // namespace hone
