#include "tools/modes.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/scripted_toolkit.h"

namespace hone {
namespace {

// Answers everything.
class Simulator final : public Responder {
  void Answer(std::shared_ptr<const CallAttempt>, Reply reply) override {
    reply(RoutedReply{.reply = Answered("imagined"), .source = CallSource::kSimulator});
  }
};

class ModesTest : public testing::Test {
 protected:
  ModesTest() {
    auto tools = std::make_shared<ScriptedToolkit>();
    tools->Add("ask", Effect::kReads, [this](const Json&, const CallLimits&) {
      ++asked_;
      return Answered(answer_);
    });
    toolbox_ = ToolboxOf({tools});
    journal_ = Journal::Open(folder_.path() / "journal.sqlite").value();
  }

  CallOutcome Call(ToolMode mode, const std::string& run, std::vector<FaultRule> faults = {}) {
    const auto timeline = NewVirtualTimeline();
    const RoutingOptions routing{
        mode, journal_, std::make_shared<Simulator>(), std::move(faults), redactor_, 1};
    Executor executor(OptionsFor(routing, *toolbox_, timeline.get()).value(), timeline.get());
    executor.Submit(
        {{run, "t", "0", 0, 0}, "ask", Json::Of({}), std::make_shared<Sessions>(toolbox_, 1)});
    return executor.Next().value();
  }

  TemporaryDirectory folder_;
  std::shared_ptr<const Toolbox> toolbox_;
  std::shared_ptr<Journal> journal_;
  std::shared_ptr<const Redactor> redactor_;
  std::string answer_ = "real";
  int asked_ = 0;
};

TEST_F(ModesTest, EachModeAsksThoseItNames) {
  EXPECT_EQ(Call(ToolMode::kReplay, "a").result.status, CallStatus::kUnavailable);
  EXPECT_EQ(Call(ToolMode::kReplayElseSimulate, "a").source, CallSource::kSimulator);
  EXPECT_EQ(Call(ToolMode::kLive, "b").source, CallSource::kTool);
  EXPECT_EQ(Call(ToolMode::kReplay, "b").result.status, CallStatus::kUnavailable);  // not recorded
  EXPECT_EQ(Call(ToolMode::kRecord, "b").source, CallSource::kTool);
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(Call(ToolMode::kRecord, "b").source, CallSource::kJournal);
  EXPECT_EQ(Call(ToolMode::kReplay, "c").result.content, "real");  // by content
  EXPECT_EQ(Call(ToolMode::kReplayElseSimulate, "c").result.content, "real");
  EXPECT_EQ(Call(ToolMode::kSimulate, "d").result.content, "imagined");
  EXPECT_EQ(Call(ToolMode::kReplay, "a").result.content, "imagined");  // its own record first
  EXPECT_EQ(asked_, 2);
}

TEST_F(ModesTest, FaultsAreRecordedOnceAndReplayedAsTheyWere) {
  const std::vector<FaultRule> faults = {{.kind = InjectedFault::kInstruction, .text = "hm"}};
  const CallOutcome first = Call(ToolMode::kRecord, "a", faults);
  EXPECT_EQ(first.result.content, "real\n\nhm");
  EXPECT_EQ(first.result.injected, "instruction");
  EXPECT_EQ(Call(ToolMode::kRecord, "a", faults).result, first.result);
  EXPECT_EQ(Call(ToolMode::kReplay, "a", faults).result, first.result);
  // What was spoilt on purpose is nobody else's answer.
  EXPECT_EQ(Call(ToolMode::kReplay, "b").result.status, CallStatus::kUnavailable);
  Call(ToolMode::kRecord, "c");
  EXPECT_EQ(Call(ToolMode::kReplay, "b", faults).result.content, "real\n\nhm");
}

TEST_F(ModesTest, SecretsLeaveBeforeFaultsCanHideThem) {
  redactor_ =
      std::make_shared<const Redactor>(Redactor::Create(RedactionOptions::Default()).value());
  answer_ = R"({"password":"hunter2"})";
  for (const InjectedFault kind : {InjectedFault::kSchemaDrift, InjectedFault::kTruncatedJson}) {
    const CallOutcome outcome =
        Call(ToolMode::kRecord, std::string(InjectedFaultName(kind)), {{.kind = kind}});
    EXPECT_NE(outcome.result.injected, "");
    EXPECT_EQ(outcome.result.content.find("hunter"), std::string::npos) << outcome.result.content;
  }
}

TEST_F(ModesTest, WhatAModeNeedsIsSaid) {
  const auto timeline = NewVirtualTimeline();
  EXPECT_FALSE(OptionsFor({.mode = ToolMode::kReplay}, *toolbox_, timeline.get()).ok());
  EXPECT_FALSE(
      OptionsFor({.mode = ToolMode::kSimulate, .journal = journal_}, *toolbox_, timeline.get())
          .ok());
  for (const std::string& name : ToolModeNames()) {
    EXPECT_EQ(ToolModeName(*ToolModeFromName(name)), name);
  }
  EXPECT_FALSE(ToolModeFromName("dead").has_value());
}

}  // namespace
}  // namespace hone
