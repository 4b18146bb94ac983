#include "tools/live.h"

#include <gtest/gtest.h>

#include "support/scripted_toolkit.h"
#include "tools/executor.h"

namespace hone {
namespace {

// Counts how many of its calls run at a time.
struct Crowd {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0, most = 0;
  bool was_full = false;

  ToolReply Visit(const CallLimits& limits) {
    std::unique_lock lock(mutex);
    most = std::max(most, ++inside);
    changed.notify_all();
    was_full |= inside == 3;
    // The first ones stay until three are inside.
    changed.wait_for(lock, limits.time, [&] { return was_full; });
    --inside;
    return Answered("");
  }
};

TEST(Live, NoMoreCallsRunAtATimeThanTheLimit) {
  const auto timeline = NewRealTimeline();
  Crowd crowd;
  auto tools = std::make_shared<ScriptedToolkit>();
  tools->Add("visit", Effect::kReads,
             [&](const Json&, const CallLimits& limits) { return crowd.Visit(limits); });
  const auto toolbox = ToolboxOf({tools}, {.concurrent = 3});
  auto sessions = std::make_shared<Sessions>(toolbox, 1);
  Executor executor({.responders = {NewLiveResponder(*toolbox, timeline.get(), nullptr)}},
                    timeline.get());
  for (int i = 0; i < 12; ++i) executor.Submit({{.call = i}, "visit", Json::Of({}), sessions});
  int ended = 0;
  while (executor.Next()) ++ended;
  EXPECT_EQ(ended, 12);
  EXPECT_EQ(crowd.most, 3);
}

TEST(Live, CallsPerSecondAreLimitedInVirtualTimeToo) {
  const auto timeline = NewVirtualTimeline();
  auto tools = std::make_shared<ScriptedToolkit>();
  tools->Add("t", Effect::kReads, [](const Json&, const CallLimits&) { return Answered(""); });
  const auto toolbox = ToolboxOf({tools}, {.per_second = 2});
  auto sessions = std::make_shared<Sessions>(toolbox, 1);
  Executor executor({.responders = {NewLiveResponder(*toolbox, timeline.get(), nullptr)}},
                    timeline.get());
  for (int i = 0; i < 5; ++i) executor.Submit({{.call = i}, "t", Json::Of({}), sessions});
  std::vector<int64_t> latencies;
  while (const std::optional<CallOutcome> outcome = executor.Next()) {
    latencies.push_back(outcome->result.latency_us);
  }
  EXPECT_EQ(latencies, (std::vector<int64_t>{0, 500'000, 1'000'000, 1'500'000, 2'000'000}));
}

// What waits holds its executor, and that holds the responder with what waits.
TEST(Live, WhoeverIsStoppedWhileWaitingIsForgotten) {
  std::weak_ptr<Sessions> remembered;
  {
    const auto timeline = NewVirtualTimeline();
    auto tools = std::make_shared<ScriptedToolkit>();
    tools->Add("t", Effect::kReads, [](const Json&, const CallLimits&) { return Answered(""); });
    const auto toolbox = ToolboxOf({tools}, {.concurrent = 1});
    auto sessions = std::make_shared<Sessions>(toolbox, 1);
    remembered = sessions;
    Executor executor({.responders = {NewLiveResponder(*toolbox, timeline.get(), nullptr)}},
                      timeline.get());
    for (int i = 0; i < 3; ++i) executor.Submit({{.call = i}, "t", Json::Of({}), sessions});
  }
  EXPECT_TRUE(remembered.expired());
}

TEST(Live, CallsThatShareASessionRunInOrderAndOthersDoNotWaitForThem) {
  const auto timeline = NewRealTimeline();
  const auto kit = std::make_shared<SumToolkit>(Sharing::kReplay);
  const auto toolbox = ToolboxOf({kit});
  Executor executor({.responders = {NewLiveResponder(*toolbox, timeline.get(), nullptr)}},
                    timeline.get());
  std::map<uint64_t, std::string> wanted;
  for (int trajectory = 0; trajectory < 20; ++trajectory) {
    auto sessions = std::make_shared<Sessions>(toolbox, 1);
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      sum += 20 + i;
      const uint64_t ticket = executor.Submit({{.path = std::to_string(trajectory), .call = i},
                                               "add",
                                               Json::Of({{"n", 20 + i}}),
                                               sessions});
      wanted[ticket] = std::to_string(sum);
    }
  }
  while (const std::optional<CallOutcome> outcome = executor.Next()) {
    EXPECT_EQ(outcome->result.content, wanted[outcome->ticket]);
    wanted.erase(outcome->ticket);
  }
  EXPECT_TRUE(wanted.empty());
}

}  // namespace
}  // namespace hone
