// Recording and replaying, through the executor.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/rng.h"
#include "support/scripted_toolkit.h"
#include "tools/executor.h"
#include "tools/live.h"

namespace hone {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr int kMany = 500;  // a hundred times slower there
#else
constexpr int kMany = 10000;
#endif

// A world whose answers are never the same twice.
class RecordedTest : public testing::Test {
 protected:
  RecordedTest() {
    tools_
        ->Add("ask", Effect::kReads,
              [this](const Json&, const CallLimits&) {
                return ++asked_ % 7 == 0 ? Refuted("no") : Answered(std::to_string(asked_));
              })
        .Add("buy", Effect::kIrreversible, [this](const Json&, const CallLimits&) {
          ++bought_;
          return Answered("bought");
        });
    toolbox_ = ToolboxOf({tools_, sums_});
  }

  std::shared_ptr<Journal> OpenJournal() {
    return std::shared_ptr<Journal>(Journal::Open(folder_.path() / "journal.sqlite").value());
  }

  // What each of these calls ends as. Offline, there are no tools at all.
  std::vector<ToolResult> Run(std::shared_ptr<Journal> journal, bool offline,
                              const std::vector<CallRequest>& calls) {
    const auto timeline = NewVirtualTimeline();
    ExecutorOptions options{.responders = {NewRecordedResponder(journal)}};
    if (!offline) {
      options.responders.push_back(NewLiveResponder(*toolbox_, timeline.get(), journal));
      options.journal = journal;
    }
    Executor executor(std::move(options), timeline.get());
    std::map<uint64_t, size_t> tickets;
    for (const CallRequest& call : calls) tickets[executor.Submit(call)] = tickets.size();
    std::vector<ToolResult> results(calls.size());
    while (std::optional<CallOutcome> outcome = executor.Next()) {
      results[tickets[outcome->ticket]] = outcome->result;
    }
    return results;
  }

  std::vector<CallRequest> Calls(int count) const {
    std::vector<CallRequest> calls;
    std::shared_ptr<Sessions> sessions;
    for (int i = 0; i < count; ++i) {
      if (i % 4 == 0) sessions = std::make_shared<Sessions>(toolbox_, 1);
      CallRequest call{{"r", fmt_task(i / 40), std::to_string(i / 4 % 10), 0, i % 4},
                       i % 2 == 0 ? "ask" : "add",
                       Json::Of({{"n", i % 3 + 1}}),
                       sessions};
      calls.push_back(std::move(call));
    }
    return calls;
  }
  static std::string fmt_task(int i) { return "task-" + std::to_string(i); }

  TemporaryDirectory folder_;
  std::shared_ptr<ScriptedToolkit> tools_ = std::make_shared<ScriptedToolkit>();
  std::shared_ptr<SumToolkit> sums_ = std::make_shared<SumToolkit>(Sharing::kReplay);
  std::shared_ptr<const Toolbox> toolbox_;
  int asked_ = 0, bought_ = 0;
};

TEST_F(RecordedTest, TenThousandCallsReplayBitEqualWithTheToolsGone) {
  const std::vector<ToolResult> live = Run(OpenJournal(), false, Calls(kMany));
  const int asked = asked_, called = sums_->called();
  EXPECT_EQ(asked, kMany / 2);
  const std::vector<ToolResult> replayed = Run(OpenJournal(), true, Calls(kMany));
  EXPECT_EQ(replayed, live);
  EXPECT_EQ(asked_, asked);
  EXPECT_EQ(sums_->called(), called);
}

TEST_F(RecordedTest, SiblingsThatAskTheSameGetTheirOwnAnswersBack) {
  std::vector<CallRequest> calls;
  for (const char* path : {"0", "1", "2"}) {
    calls.push_back(
        {{"r", "t", path, 0, 0}, "ask", Json::Of({}), std::make_shared<Sessions>(toolbox_, 1)});
  }
  const std::vector<ToolResult> live = Run(OpenJournal(), false, calls);
  EXPECT_EQ(live[0].content, "1");
  EXPECT_EQ(live[2].content, "3");
  std::reverse(calls.begin(), calls.end());
  const std::vector<ToolResult> replayed = Run(OpenJournal(), true, calls);
  EXPECT_EQ(replayed[0].content, "3");
  EXPECT_EQ(replayed[2].content, "1");
}

TEST_F(RecordedTest, ARunThatIsTakenUpAgainAsksOnlyForWhatIsMissing) {
  const std::vector<CallRequest> calls = Calls(40);
  const std::vector<ToolResult> first =
      Run(OpenJournal(), false, {calls.begin(), calls.begin() + 22});
  EXPECT_EQ(asked_, 11);
  const std::vector<ToolResult> all = Run(OpenJournal(), false, Calls(40));
  EXPECT_EQ(asked_, 20);
  EXPECT_EQ(std::vector(all.begin(), all.begin() + 22), first);
  // The session that was cut in two goes on where it was.
  EXPECT_EQ(all[23].content, "4");
  EXPECT_EQ(Run(OpenJournal(), true, Calls(40)), all);
}

TEST_F(RecordedTest, AWriteThatHadBegunIsNeverRepeated) {
  const CallRequest buy{
      {"r", "t", "0", 0, 0}, "buy", Json::Of({}), std::make_shared<Sessions>(toolbox_, 1)};
  // What a run leaves behind that is killed between the beginning of a write and its outcome.
  const CallContent content{.environment_seed = 1, .tool = "buy", .arguments = Json::Of({})};
  ASSERT_TRUE(OpenJournal()->Begin(buy.identity, content, Effect::kIrreversible).ok());
  for (int again = 0; again < 2; ++again) {
    const std::vector<ToolResult> results = Run(OpenJournal(), false, {buy});
    EXPECT_EQ(results[0].status, CallStatus::kInterrupted);
    EXPECT_EQ(results[0].blame, Blame::kInfrastructure);
    EXPECT_EQ(bought_, 0);
  }
}

TEST_F(RecordedTest, AWriteThatWasRefusedIsTriedAgainAndNotedOnce) {
  int tried = 0;
  auto shop = std::make_shared<ScriptedToolkit>();
  shop->Add("order", Effect::kWrites, [&](const Json&, const CallLimits&) {
    if (++tried > 1) return Answered("ordered");
    ToolReply refusal = Unavailable("HTTP 429");
    refusal.refused = true;
    return refusal;
  });
  toolbox_ = ToolboxOf({shop});
  const std::vector<ToolResult> results = Run(
      OpenJournal(), false,
      {{{"r", "t", "0", 0, 0}, "order", Json::Of({}), std::make_shared<Sessions>(toolbox_, 1)}});
  EXPECT_EQ(results[0].status, CallStatus::kOk) << results[0].content;
  EXPECT_EQ(results[0].attempts, 2);
  EXPECT_GT(OpenJournal()->Find({"r", "t", "0", 0, 0})->entry->recorded_ms, 1'600'000'000'000);
}

TEST_F(RecordedTest, AnotherCallAtTheSamePlaceIsAnErrorOfTheRunNotAnAnswer) {
  CallRequest call{
      {"r", "t", "0", 0, 0}, "ask", Json::Of({}), std::make_shared<Sessions>(toolbox_, 1)};
  Run(OpenJournal(), false, {call});
  call.arguments = Json::Of({{"other", true}});
  const std::vector<ToolResult> results = Run(OpenJournal(), true, {call});
  EXPECT_EQ(results[0].status, CallStatus::kUnavailable);
  EXPECT_EQ(results[0].blame, Blame::kInfrastructure);
  EXPECT_NE(results[0].content.find("r/t/0 turn 0 call 0"), std::string::npos);
}

TEST_F(RecordedTest, ARetryOfACallThatWasCarriedOutUnheardDoesNotDoubleIt) {
  // The reply of the first attempt is lost.
  class Losing final : public Responder {
   public:
    explicit Losing(std::shared_ptr<Responder> inner) : inner_(std::move(inner)) {}
    void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
      const bool lose = attempt->attempt == 1;
      inner_->Answer(attempt, [lose, reply](std::optional<RoutedReply> answer) {
        if (!lose) reply(std::move(answer));
      });
    }

   private:
    const std::shared_ptr<Responder> inner_;
  };
  const auto timeline = NewVirtualTimeline();
  const auto toolbox = ToolboxOf({sums_}, {.attempt = std::chrono::seconds(5)});
  const std::shared_ptr<Responder> live = NewLiveResponder(*toolbox, timeline.get(), nullptr);
  Executor executor({.responders = {std::make_shared<Losing>(live)}}, timeline.get());
  auto sessions = std::make_shared<Sessions>(toolbox, 1);
  executor.Submit({{"r", "t", "0", 0, 0}, "add", Json::Of({{"n", 5}}), sessions});
  const ToolResult result = executor.Next()->result;
  EXPECT_EQ(result.attempts, 2);
  EXPECT_EQ(result.content, "5");
}

TEST_F(RecordedTest, WhatIsNotInTheJournalIsAFaultOfTheReplayNotOfTheAgent) {
  const std::vector<ToolResult> results = Run(OpenJournal(), true, Calls(1));
  EXPECT_EQ(results[0].status, CallStatus::kUnavailable);
  EXPECT_EQ(results[0].blame, Blame::kInfrastructure);
  EXPECT_EQ(results[0].attempts, 1);
}

TEST_F(RecordedTest, EqualCallsOfOtherRunsAreLookedUpByContentButWritesAreNot) {
  const auto journal = OpenJournal();
  auto sessions = [&] { return std::make_shared<Sessions>(toolbox_, 1); };
  Run(journal, false,
      {{{"r", "t", "0", 0, 0}, "ask", Json::Of({}), sessions()},
       {{"r", "t", "0", 0, 1}, "buy", Json::Of({}), sessions()}});
  const auto timeline = NewVirtualTimeline();
  Executor executor({.responders = {NewLookupResponder(journal)}}, timeline.get());
  executor.Submit({{"other", "t9", "5", 1, 0}, "ask", Json::Of({}), sessions()});
  EXPECT_EQ(executor.Next()->result.content, "1");
  executor.Submit({{"other", "t9", "5", 1, 1}, "buy", Json::Of({}), sessions()});
  EXPECT_EQ(executor.Next()->result.status, CallStatus::kUnavailable);
  // A state that was written to is another state.
  auto written = sessions();
  executor.Submit({{"other", "t9", "6", 0, 0}, "buy", Json::Of({}), written});
  executor.Submit({{"other", "t9", "6", 0, 1}, "ask", Json::Of({}), written});
  executor.Next();
  EXPECT_EQ(executor.Next()->result.status, CallStatus::kUnavailable);
}

TEST_F(RecordedTest, WhatWasCutWhenItWasRecordedIsNotCutAgain) {
  tools_->Add("tell", Effect::kReads,
              [](const Json&, const CallLimits&) { return Answered(std::string(1 << 20, 'x')); });
  toolbox_ = ToolboxOf({tools_, sums_});
  const auto journal = OpenJournal();
  auto sessions = [&] { return std::make_shared<Sessions>(toolbox_, 1); };
  const ToolResult told =
      Run(journal, false, {{{"r", "t", "0", 0, 0}, "tell", Json::Of({}), sessions()}})[0];
  EXPECT_GT(told.cut_bytes, 1'000'000);
  const auto timeline = NewVirtualTimeline();
  Executor executor({.responders = {NewLookupResponder(journal)}}, timeline.get());
  executor.Submit({{"other", "t9", "5", 1, 0}, "tell", Json::Of({}), sessions()});
  const ToolResult again = executor.Next()->result;
  EXPECT_EQ(again.content, told.content);
  EXPECT_EQ(again.cut_bytes, told.cut_bytes);
}

TEST_F(RecordedTest, AnOutcomeThatCannotBeRecordedDoesNotEnterTheEpisode) {
  const auto journal = OpenJournal();
  const CallRequest call{
      {"r", "t", "0", 0, 0}, "ask", Json::Of({}), std::make_shared<Sessions>(toolbox_, 1)};
  Run(journal, false, {call});
  // Without the look into the journal the same call is made again, and its outcome is another.
  const auto timeline = NewVirtualTimeline();
  Executor executor(
      {.responders = {NewLiveResponder(*toolbox_, timeline.get(), journal)}, .journal = journal},
      timeline.get());
  executor.Submit({call.identity, "ask", Json::Of({}), std::make_shared<Sessions>(toolbox_, 1)});
  const ToolResult result = executor.Next()->result;
  EXPECT_EQ(result.status, CallStatus::kInterrupted);
  EXPECT_EQ(result.blame, Blame::kInfrastructure);
  EXPECT_EQ(executor.counts().unrecorded, 1);
  // Nothing is to be made of it.
  ASSERT_FALSE(executor.Recorded().ok());
  EXPECT_NE(executor.Recorded().error().message().find(result.content), std::string::npos);
}

}  // namespace
}  // namespace hone
