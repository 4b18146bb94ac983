#include "tools/caller.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/scripted_toolkit.h"
#include "tools/live.h"

namespace hone {
namespace {

class CallerTest : public testing::Test {
 protected:
  void Use(ScriptedToolkit::Function function, ToolLimits limits = {}) {
    auto kit = std::make_shared<ScriptedToolkit>();
    kit->Add("ask", Effect::kReads, std::move(function));
    toolbox_ = ToolboxOf({kit}, limits);
    sessions_ = std::make_shared<Sessions>(toolbox_, 1);
    executor_ = std::make_unique<Executor>(
        ExecutorOptions{.responders = {NewLiveResponder(*toolbox_, timeline_.get(), nullptr)}},
        timeline_.get());
  }
  CallRequest Request(int32_t n) {
    return {{"r", "t", "0", 0, n}, "ask", Json::Of({{"n", n}}), sessions_};
  }

  std::unique_ptr<Timeline> timeline_ = NewRealTimeline();
  std::shared_ptr<const Toolbox> toolbox_;
  std::shared_ptr<Sessions> sessions_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(CallerTest, EveryThreadGetsTheOutcomeOfItsOwnCall) {
  Use([](const Json& arguments, const CallLimits&) {
    return Answered(DumpJson(*arguments.Find("n")));
  });
  Caller caller(executor_.get());
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int32_t i = 0; i < 50; ++i) {
        const int32_t n = t * 100 + i;
        right += caller.Call(Request(n)).result.content == std::to_string(n);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(right, 200);
}

TEST_F(CallerTest, AStopInterruptsTheCall) {
  Use([](const Json&, const CallLimits& limits) {
    while (!limits.stop.stop_requested()) std::this_thread::yield();
    return TimedOut("stopped");
  });
  Caller caller(executor_.get());
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_EQ(caller.Call(Request(0), stop.get_token()).result.status, CallStatus::kInterrupted);
}

}  // namespace
}  // namespace hone
