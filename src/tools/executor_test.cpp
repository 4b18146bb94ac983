#include "tools/executor.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/rng.h"
#include "support/scripted_toolkit.h"
#include "tools/live.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// An executor on virtual time with the tools of a test behind it.
class ExecutorTest : public testing::Test {
 protected:
  void UseTools(std::vector<std::shared_ptr<Toolkit>> toolkits, ToolLimits limits = {}) {
    toolbox_ = ToolboxOf(std::move(toolkits), limits);
    sessions_ = std::make_shared<Sessions>(toolbox_, 7);
    Use({.responders = {NewLiveResponder(*toolbox_, timeline_.get(), nullptr)}});
  }
  void Use(ExecutorOptions options) {
    executor_ = std::make_unique<Executor>(std::move(options), timeline_.get());
  }

  uint64_t Submit(const std::string& tool, Json arguments = Json::Of({})) {
    return executor_->Submit(
        {{.run = "r", .task = "t", .path = "0", .turn = turn_, .call = call_++},
         tool,
         std::move(arguments),
         sessions_});
  }
  ToolResult Run(const std::string& tool, Json arguments = Json::Of({})) {
    Submit(tool, std::move(arguments));
    return executor_->Next().value().result;
  }

  std::unique_ptr<Timeline> timeline_ = NewVirtualTimeline();
  std::shared_ptr<const Toolbox> toolbox_;
  std::shared_ptr<Sessions> sessions_;
  std::unique_ptr<Executor> executor_;
  int32_t turn_ = 0, call_ = 0;
};

std::shared_ptr<ScriptedToolkit> Tools() { return std::make_shared<ScriptedToolkit>(); }

TEST_F(ExecutorTest, AnswersAreTypedAndTimed) {
  auto tools = Tools();
  tools->Add("echo", Effect::kPure, [](const Json& arguments, const CallLimits&) {
    return Answered(DumpJson(arguments));
  });
  UseTools({tools});
  const ToolResult result = Run("echo", Json::Of({{"a", 1}}));
  EXPECT_EQ(result, (ToolResult{.call = 0, .content = R"({"a":1})"}));
  EXPECT_FALSE(executor_->Next().has_value());
}

TEST_F(ExecutorTest, PollTakesWhatIsThereAndLetsNoTimePass) {
  auto tools = Tools();
  tools->Add("echo", Effect::kPure,
             [](const Json&, const CallLimits&) { return Answered("done"); });
  UseTools({tools});
  EXPECT_FALSE(executor_->Poll().has_value());
  const uint64_t first = Submit("echo");
  const uint64_t second = Submit("echo");
  EXPECT_FALSE(executor_->Poll().has_value());
  EXPECT_EQ(executor_->Next()->ticket, first);
  // The agent's own fault is known at once.
  const uint64_t unknown = Submit("nothing");
  EXPECT_EQ(executor_->Poll()->ticket, unknown);
  EXPECT_FALSE(executor_->Poll().has_value());
  EXPECT_EQ(executor_->Next()->ticket, second);
  EXPECT_FALSE(executor_->Next().has_value());
  // What takes no time can be had without any passing.
  const uint64_t third = Submit("echo");
  executor_->CatchUp();
  EXPECT_EQ(executor_->Poll()->ticket, third);
}

TEST_F(ExecutorTest, ASchemaThatCannotBeCheckedIsTheToolsFault) {
  auto tools = Tools();
  tools->Add({.name = "plan",
              .description = "",
              .parameters =
                  ParseJson(R"({"type": "object", "properties": {"x": {"pattern": "(.*a){20}"}}})")
                      .value()},
             [](const Json&, const CallLimits&) { return Answered("reached"); });
  UseTools({tools});
  const ToolResult result = Run("plan", Json::Of({{"x", std::string(200, 'a') + "b"}}));
  EXPECT_EQ(result.status, CallStatus::kUnavailable);
  EXPECT_EQ(result.blame, Blame::kTool);
  EXPECT_NE(result.content.find("could not be checked"), std::string::npos) << result.content;
  EXPECT_EQ(Run("plan", Json::Of({{"x", "b"}})).status, CallStatus::kInvalidArguments);
}

TEST_F(ExecutorTest, TheAgentsOwnFaultsNeverReachATool) {
  auto tools = Tools();
  tools->Add({.name = "plan",
              .description = "",
              .parameters = ParseJson(R"({"type": "object", "required": ["day"], "properties": {
                  "day": {"enum": ["mon", "sun"]}}})")
                                .value()},
             [](const Json&, const CallLimits&) { return Answered("reached"); });
  UseTools({tools}, {.max_argument_bytes = 100});
  const ToolResult unknown = Run("plans");
  EXPECT_EQ(unknown.status, CallStatus::kUnknownTool);
  EXPECT_EQ(unknown.blame, Blame::kAgent);
  EXPECT_EQ(unknown.content,
            "there is no tool \"plans\" (did you mean \"plan\"?); there are: plan");
  const ToolResult wrong = Run("plan", Json::Of({{"day", "Mondy"}}));
  EXPECT_EQ(wrong.status, CallStatus::kInvalidArguments);
  EXPECT_EQ(wrong.blame, Blame::kAgent);
  EXPECT_EQ(wrong.content, R"(`day`: expected one of "mon", "sun", got "Mondy")");
  EXPECT_EQ(Run("plan", Json(Json::Array{})).status, CallStatus::kInvalidArguments);
  const ToolResult huge = Run("plan", Json::Of({{"day", std::string(200, 'x')}}));
  EXPECT_EQ(huge.status, CallStatus::kInvalidArguments);
  EXPECT_EQ(huge.content, "the arguments have 210 bytes; at most 100 are allowed");
  EXPECT_EQ(Run("plan", Json::Of({{"day", "mon"}})).content, "reached");
}

TEST_F(ExecutorTest, LongResultsAreCutAndSaySo) {
  auto tools = Tools();
  tools->Add("long", Effect::kPure, [](const Json&, const CallLimits&) {
    return Answered(std::string(1000, 'a') + "\xff");
  });
  UseTools({tools}, {.max_result_bytes = 30});
  const ToolResult result = Run("long");
  EXPECT_EQ(result.cut_bytes, 973);
  EXPECT_EQ(result.content,
            std::string(20, 'a') + "\n[... 973 bytes left out ...]\naaaaaaa\xEF\xBF\xBD");
}

TEST_F(ExecutorTest, ReadsAreRetriedWithGrowingPausesAndWritesAreNot) {
  std::vector<Clock::Duration> times;
  auto fail = [&](const Json&, const CallLimits&) {
    times.push_back(timeline_->Now());
    return Unavailable("broken");
  };
  auto tools = Tools();
  tools->Add("read", Effect::kReads, fail)
      .Add("write", Effect::kWrites, fail)
      .Add("launch", Effect::kIrreversible, fail);
  UseTools({tools}, {.retries = 3, .backoff = milliseconds(100)});
  const ToolResult read = Run("read");
  EXPECT_EQ(read.status, CallStatus::kUnavailable);
  EXPECT_EQ(read.blame, Blame::kTool);
  EXPECT_EQ(read.attempts, 4);
  ASSERT_EQ(times.size(), 4u);
  for (int i = 1; i < 4; ++i) {
    const double pause = std::chrono::duration<double>(times[i] - times[i - 1]).count();
    EXPECT_GE(pause, 0.05 * (1 << (i - 1)));
    EXPECT_LE(pause, 0.1 * (1 << (i - 1)));
  }
  EXPECT_EQ(Run("write").attempts, 1);
  EXPECT_EQ(Run("launch").attempts, 1);
  EXPECT_EQ(executor_->counts().retries, 3);
}

TEST_F(ExecutorTest, AWriteThatWasRefusedIsTriedAgainWhenTheServerSaysSo) {
  int writes = 0, launches = 0;
  auto refuse_once = [](int* count) {
    return [count](const Json&, const CallLimits&) {
      if (++*count > 1) return Answered("done");
      ToolReply refusal = Unavailable("HTTP 429");
      refusal.refused = true;
      refusal.retry_after = seconds(3);
      return refusal;
    };
  };
  auto tools = Tools();
  tools->Add("write", Effect::kWrites, refuse_once(&writes))
      .Add("launch", Effect::kIrreversible, refuse_once(&launches));
  UseTools({tools});
  const ToolResult result = Run("write");
  EXPECT_EQ(result.status, CallStatus::kOk);
  EXPECT_EQ(result.attempts, 2);
  EXPECT_EQ(result.latency_us, 3'000'000);
  EXPECT_EQ(Run("launch").status, CallStatus::kUnavailable);
}

TEST_F(ExecutorTest, NoRetryGoesPastTheDeadline) {
  auto tools = Tools();
  tools->Add("read", Effect::kReads,
             [](const Json&, const CallLimits&) { return Unavailable("broken"); });
  UseTools({tools}, {.deadline = seconds(1), .retries = 100, .backoff = milliseconds(300)});
  const ToolResult result = Run("read");
  EXPECT_LE(result.latency_us, 1'000'000);
  EXPECT_LT(result.attempts, 6);
}

// Answers what it is told, when it is told.
class LaterResponder final : public Responder {
 public:
  explicit LaterResponder(Timeline* timeline) : timeline_(timeline) {}
  void Answer(std::shared_ptr<const CallAttempt> attempt, Reply reply) override {
    const Json* delay = attempt->arguments.Find("ms");
    if (delay == nullptr) {
      attempt->note->SetBegun();
      return;  // never answers
    }
    timeline_->At(timeline_->Now() + milliseconds(delay->AsInteger()), [attempt, reply] {
      reply(RoutedReply{.reply = Answered(attempt->identity.Text()),
                        .source = CallSource::kComputed});
    });
  }

 private:
  Timeline* const timeline_;
};

TEST_F(ExecutorTest, AHungToolCostsItsDeadlineAndDelaysNobodyElse) {
  auto tools = Tools();
  tools->Add("t", Effect::kReads, nullptr).Add("w", Effect::kWrites, nullptr);
  UseTools({tools}, {.deadline = seconds(30), .attempt = seconds(10), .retries = 1});
  Use({.responders = {std::make_shared<LaterResponder>(timeline_.get())}});
  const uint64_t hung = Submit("t"), hung_write = Submit("w");
  const uint64_t quick = Submit("t", Json::Of({{"ms", 5}}));
  const uint64_t slow = Submit("t", Json::Of({{"ms", 500}}));
  CallOutcome outcome = executor_->Next().value();
  EXPECT_EQ(outcome.ticket, quick);
  EXPECT_EQ(outcome.result.latency_us, 5'000);
  outcome = executor_->Next().value();
  EXPECT_EQ(outcome.ticket, slow);
  EXPECT_EQ(outcome.result.latency_us, 500'000);
  outcome = executor_->Next().value();
  EXPECT_EQ(outcome.ticket, hung_write);
  EXPECT_EQ(outcome.result.status, CallStatus::kTimeout);
  EXPECT_EQ(outcome.result.blame, Blame::kTool);
  EXPECT_EQ(outcome.result.content,
            "no answer within 10000 ms; it may or may not have been carried out");
  outcome = executor_->Next().value();
  EXPECT_EQ(outcome.ticket, hung);
  EXPECT_EQ(outcome.result.attempts, 2);
  EXPECT_EQ(outcome.result.status, CallStatus::kTimeout);
}

// Whoever plays a tool may take longer than the tool, and pays for it where it takes too long.
TEST_F(ExecutorTest, WhoPlaysAToolIsWaitedForLonger) {
  auto tools = Tools();
  tools->Add("t", Effect::kReads, nullptr);
  UseTools({tools}, {.deadline = seconds(30), .attempt = seconds(10), .retries = 1});
  Use({.responders = {std::make_shared<LaterResponder>(timeline_.get())}, .patience = seconds(60)});
  const ToolResult slow = Run("t", Json::Of({{"ms", 50'000}}));
  EXPECT_EQ(slow.status, CallStatus::kOk);
  EXPECT_EQ(slow.attempts, 1);
  const ToolResult hung = Run("t");
  EXPECT_EQ(hung.status, CallStatus::kUnavailable);
  EXPECT_EQ(hung.blame, Blame::kSimulator);
  EXPECT_EQ(hung.content, "the simulator gave no answer within 60000 ms");
}

TEST_F(ExecutorTest, ALongRetryAfterMeansNoRetry) {
  int tried = 0;
  auto tools = Tools();
  tools->Add("read", Effect::kReads, [&](const Json&, const CallLimits&) {
    ++tried;
    ToolReply reply = Unavailable("busy");
    reply.retry_after = milliseconds(INT64_MAX / 1000);
    return reply;
  });
  UseTools({tools});
  EXPECT_EQ(Run("read").attempts, 1);
  EXPECT_EQ(tried, 1);
}

TEST_F(ExecutorTest, WhatOnlyWaitedWasNotCarriedOut) {
  timeline_ = NewRealTimeline();
  std::stop_source release;
  auto tools = Tools();
  tools->Add("write", Effect::kWrites, [&](const Json&, const CallLimits&) {
    NewRealClock()->SleepFor(std::chrono::hours(1), release.get_token());
    return Answered("late");
  });
  UseTools({tools}, {.deadline = milliseconds(60), .concurrent = 1});
  const uint64_t first = Submit("write");
  Submit("write");
  for (int i = 0; i < 2; ++i) {
    const CallOutcome outcome = executor_->Next().value();
    EXPECT_EQ(outcome.result.status, CallStatus::kTimeout);
    EXPECT_TRUE(outcome.ticket != first ||
                outcome.result.content.ends_with("may or may not have been carried out"));
  }
  release.request_stop();
  executor_ = nullptr;
  timeline_ = nullptr;
}

TEST_F(ExecutorTest, EndingTheExecutorStartsNothing) {
  timeline_ = NewRealTimeline();
  std::atomic<int> carried_out = 0;
  class Slow final : public Toolkit {
   public:
    explicit Slow(std::atomic<int>* count) : count_(count) {}
    const std::vector<ToolSpec>& tools() const override { return specs_; }
    Sharing sharing() const override { return Sharing::kOnce; }
    Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::make_unique<Session>(); }
    ToolReply Call(std::string_view, const Json&, Session*, const CallLimits& limits) override {
      ++*count_;
      NewRealClock()->SleepFor(std::chrono::hours(1), limits.stop);
      return Answered("");
    }

   private:
    std::atomic<int>* const count_;
    const std::vector<ToolSpec> specs_ = {{.name = "launch",
                                           .parameters = Json::Of({{"type", "object"}}),
                                           .effect = Effect::kIrreversible}};
  };
  for (int round = 0; round < 50; ++round) {
    carried_out = 0;
    UseTools({std::make_shared<Slow>(&carried_out)});
    for (int i = 0; i < 4; ++i) Submit("launch");
    while (carried_out == 0) std::this_thread::yield();
    executor_ = nullptr;
    EXPECT_EQ(carried_out, 1);
  }
  timeline_ = nullptr;
}

TEST_F(ExecutorTest, LateRepliesAreDropped) {
  auto tools = Tools();
  tools->Add("t", Effect::kReads, nullptr);
  UseTools({tools}, {.attempt = seconds(1), .retries = 0});
  Use({.responders = {std::make_shared<LaterResponder>(timeline_.get())}});
  Submit("t", Json::Of({{"ms", 1500}}));
  const uint64_t second = Submit("t", Json::Of({{"ms", 900}}));
  EXPECT_EQ(executor_->Next()->ticket, second);
  EXPECT_EQ(executor_->Next()->result.status, CallStatus::kTimeout);
  Submit("t", Json::Of({{"ms", 950}}));  // under way when the late reply comes
  EXPECT_EQ(executor_->Next()->result.content, "r/t/0 turn 0 call 2");
  EXPECT_EQ(executor_->counts().late_replies, 1);
}

TEST_F(ExecutorTest, ACancelledCallEndsAtOnce) {
  auto tools = Tools();
  tools->Add("t", Effect::kReads, nullptr);
  UseTools({tools});
  Use({.responders = {std::make_shared<LaterResponder>(timeline_.get())}});
  const uint64_t ticket = Submit("t", Json::Of({{"ms", 1500}}));
  executor_->Cancel(ticket);
  executor_->Cancel(ticket);
  executor_->Cancel(12345);
  const CallOutcome outcome = executor_->Next().value();
  EXPECT_EQ(outcome.result.status, CallStatus::kInterrupted);
  EXPECT_EQ(outcome.result.blame, Blame::kInfrastructure);
  EXPECT_EQ(timeline_->Now(), Clock::Duration(0));
  EXPECT_FALSE(executor_->Next().has_value());
}

TEST_F(ExecutorTest, TheNextResponderIsAskedWhenOneHasNoAnswer) {
  class Silent final : public Responder {
    void Answer(std::shared_ptr<const CallAttempt>, Reply reply) override { reply(std::nullopt); }
  };
  auto tools = Tools();
  tools->Add("t", Effect::kReads, nullptr);
  UseTools({tools});
  Use({.responders = {std::make_shared<Silent>(),
                      std::make_shared<LaterResponder>(timeline_.get())}});
  Submit("t", Json::Of({{"ms", 1}}));
  EXPECT_EQ(executor_->Next()->source, CallSource::kComputed);
  Use({.responders = {std::make_shared<Silent>()}});
  const ToolResult missing = Run("t");
  EXPECT_EQ(missing.status, CallStatus::kUnavailable);
  EXPECT_EQ(missing.blame, Blame::kInfrastructure);
}

TEST_F(ExecutorTest, SecretsAreTakenOutOfWhatTheAgentReads) {
  auto tools = Tools();
  tools->Add("t", Effect::kReads,
             [](const Json&, const CallLimits&) { return Answered("key=hunter2"); });
  UseTools({tools});
  Use({.responders = {NewLiveResponder(*toolbox_, timeline_.get(), nullptr)},
       .redact_content = [](std::string text) {
         return text.replace(text.find("hunter2"), 7, "[redacted]");
       }});
  EXPECT_EQ(Run("t").content, "key=[redacted]");
}

TEST_F(ExecutorTest, OnTheRealClockAToolThatIgnoresItsStopKeepsNobodyWaiting) {
  timeline_ = NewRealTimeline();
  std::stop_source release;
  auto tools = Tools();
  tools
      ->Add("hang", Effect::kReads,
            [&](const Json&, const CallLimits&) {
              NewRealClock()->SleepFor(std::chrono::hours(1), release.get_token());
              return Answered("late");
            })
      .Add("quick", Effect::kReads,
           [](const Json&, const CallLimits&) { return Answered("quick"); });
  UseTools({tools}, {.attempt = milliseconds(50), .retries = 0, .concurrent = 1});
  Submit("hang");
  Submit("quick");  // waits for the one place, which is given back at the other's timeout
  EXPECT_EQ(executor_->Next()->result.status, CallStatus::kTimeout);
  const uint64_t third = Submit("quick");
  std::map<uint64_t, CallStatus> statuses;
  while (const std::optional<CallOutcome> outcome = executor_->Next()) {
    statuses[outcome->ticket] = outcome->result.status;
  }
  EXPECT_EQ(statuses[third], CallStatus::kOk);
  release.request_stop();
  executor_ = nullptr;
  timeline_ = nullptr;
}

TEST_F(ExecutorTest, ManyCallsOnThreadsAllEndOnce) {
  timeline_ = NewRealTimeline();
  auto tools = Tools();
  tools->Add("echo", Effect::kReads, [](const Json& arguments, const CallLimits&) {
    return Answered(DumpJson(arguments));
  });
  UseTools({tools}, {.concurrent = 4});
  std::map<uint64_t, int> wanted;
  for (int i = 0; i < 2000; ++i) wanted[Submit("echo", Json::Of({{"i", i}}))] = i;
  while (const std::optional<CallOutcome> outcome = executor_->Next()) {
    const auto found = wanted.find(outcome->ticket);
    ASSERT_NE(found, wanted.end());
    EXPECT_EQ(outcome->result.content, DumpJson(Json::Of({{"i", found->second}})));
    wanted.erase(found);
  }
  EXPECT_TRUE(wanted.empty());
  executor_ = nullptr;
  timeline_ = nullptr;
}

}  // namespace
}  // namespace hone
