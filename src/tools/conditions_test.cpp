#include "tools/conditions.h"

#include <gtest/gtest.h>

#include "support/scripted_toolkit.h"
#include "tools/executor.h"
#include "tools/faults.h"
#include "tools/live.h"

namespace hone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Agents that call a clock on conditions, on virtual time.
class ConditionsTest : public testing::Test {
 protected:
  void Use(std::vector<ServingConditions> conditions, ToolLimits limits = {.retries = 0},
           std::vector<FaultRule> faults = {}) {
    executor_ = nullptr;
    timeline_ = NewVirtualTimeline();
    bill_ = std::make_shared<Bill>();
    auto tools = std::make_shared<ScriptedToolkit>();
    for (const char* name : {"clock", "calendar"}) {
      tools->Add(name, Effect::kReads, [this](const Json&, const CallLimits&) {
        ++carried_out_;
        return Answered("noon");
      });
    }
    toolbox_ = ToolboxOf({tools}, limits);
    std::shared_ptr<Responder> served =
        NewServedResponder(NewLiveResponder(*toolbox_, timeline_.get(), nullptr),
                           std::move(conditions), 7, timeline_.get(), bill_);
    if (!faults.empty()) {
      served = NewFaultyResponder(std::move(served), faults, 1, timeline_.get()).value();
    }
    executor_ = std::make_unique<Executor>(ExecutorOptions{.responders = {std::move(served)}},
                                           timeline_.get());
  }
  // Each by a trajectory of its own, all at once.
  std::vector<ToolResult> Call(int count, const std::string& tool = "clock",
                               const std::string& task = "t") {
    for (int i = 0; i < count; ++i) {
      executor_->Submit({{.task = task, .path = std::to_string(next_++)},
                         tool,
                         Json::Of({}),
                         std::make_shared<Sessions>(toolbox_, 1)});
    }
    std::vector<ToolResult> results;
    for (int i = 0; i < count; ++i) results.push_back(executor_->Next().value().result);
    return results;
  }

  std::unique_ptr<Timeline> timeline_;
  std::shared_ptr<Bill> bill_;
  std::shared_ptr<const Toolbox> toolbox_;
  std::unique_ptr<Executor> executor_;
  int carried_out_ = 0, next_ = 0;
};

TEST_F(ConditionsTest, CallsCostAndTakeTheirTime) {
  Use({{.price = 0.002, .latency_ms = 400}});
  for (const ToolResult& result : Call(3)) {
    EXPECT_EQ(result.status, CallStatus::kOk);
    EXPECT_EQ(result.latency_us, 400'000);
  }
  EXPECT_EQ(bill_->nanodollars(), 6'000'000);
  EXPECT_EQ(timeline_->Now(), milliseconds(400)) << "all three at once";
}

TEST_F(ConditionsTest, LatenciesAreLogNormalAndOfTheCallNotOfItsTime) {
  const std::vector<ServingConditions> spread = {{.latency_ms = 100, .latency_p99_ms = 3000}};
  std::map<std::string, int64_t> by_path[2];
  for (auto& taken : by_path) {
    Use(spread, {.deadline = seconds(3600), .attempt = seconds(3600), .retries = 0});
    next_ = 0;
    if (&taken == &by_path[1]) next_ = 500;  // the later ones first
    for (int half = 0; half < 2; ++half) {
      const int first = next_;
      const std::vector<ToolResult> results = Call(500);
      // Outcomes come in the order of their latencies.
      for (size_t i = 1; i < results.size(); ++i) {
        EXPECT_LE(results[i - 1].latency_us, results[i].latency_us);
      }
      for (const ToolResult& result : results) ++taken[std::to_string(result.latency_us)];
      next_ = first == 500 ? 0 : 500;
    }
  }
  EXPECT_EQ(by_path[0], by_path[1]) << "which call takes how long hangs on nothing else";
  std::vector<int64_t> all;
  for (const auto& [latency, count] : by_path[0]) {
    for (int64_t i = 0; i < count; ++i) all.push_back(std::stoll(latency));
  }
  ASSERT_EQ(all.size(), 1000u);
  std::sort(all.begin(), all.end());
  EXPECT_NEAR(static_cast<double>(all[500]), 100'000, 15'000);
  EXPECT_GT(all[990], 1'500'000);
  EXPECT_LT(all[990], 6'000'000);
}

TEST_F(ConditionsTest, NoMoreBeginInASecondThanMay) {
  Use({{.latency_ms = 100, .per_second = 10}});
  Call(21);
  EXPECT_EQ(timeline_->Now(), milliseconds(20 * 100 + 100));
}

TEST_F(ConditionsTest, WhatNobodyWaitsForAnyMoreIsNotCarriedOutAndCostsNothing) {
  Use({{.price = 1, .latency_ms = 100, .per_second = 1}},
      {.deadline = seconds(3), .attempt = seconds(3), .retries = 0});
  int timeouts = 0;
  for (const ToolResult& result : Call(6)) timeouts += result.status == CallStatus::kTimeout;
  EXPECT_EQ(timeouts, 3) << "three begin within three seconds";
  EXPECT_EQ(carried_out_, 3);
  EXPECT_EQ(bill_->nanodollars(), 3'000'000'000);
}

TEST_F(ConditionsTest, WhoGivesUpGivesItsTurnToTheNext) {
  Use({{.latency_ms = 100, .per_second = 1}}, {.deadline = seconds(20),
                                               .attempt = milliseconds(3500),
                                               .retries = 1,
                                               .backoff = milliseconds(100)});
  // Six ask at once; four are served in their first attempt, the others when they ask again.
  int served = 0;
  for (const ToolResult& result : Call(6)) served += result.status == CallStatus::kOk;
  EXPECT_EQ(served, 6);
  EXPECT_LT(timeline_->Now(), seconds(7)) << "nobody waits for turns that nobody takes";
}

TEST_F(ConditionsTest, TheFirstThatFitsHoldsAndOtherToolsAreFree) {
  Use({{.tool = "cl*", .price = 1}, {.tool = "clock", .price = 5}});
  Call(1);
  Call(1, "calendar");
  EXPECT_EQ(bill_->nanodollars(), 1'000'000'000);
  EXPECT_EQ(timeline_->Now(), seconds(0));
}

TEST_F(ConditionsTest, AnOutageHitsAllCallsOfATaskOrNone) {
  const FaultRule outage{.kind = InjectedFault::kServerError, .probability = 0.3, .outage = true};
  Use({{.price = 1}}, {.retries = 0}, {outage});
  int hit = 0;
  for (int task = 0; task < 200; ++task) {
    int failed = 0;
    for (const ToolResult& result : Call(8, "clock", "task-" + std::to_string(task))) {
      failed += result.status == CallStatus::kUnavailable;
    }
    EXPECT_TRUE(failed == 0 || failed == 8) << failed;
    hit += failed == 8;
  }
  EXPECT_NEAR(hit, 60, 20);
  EXPECT_EQ(bill_->nanodollars(), int64_t{8} * (200 - hit) * 1'000'000'000)
      << "who is refused pays nothing";
}

TEST(ServingConditions, AreReadFromARecipe) {
  Recipe recipe = Recipe::Parse(
                      "[[conditions]]\ntool = \"op\"\nprice = 0.002\nlatency_ms = 400\n"
                      "per_second = 10\n[[conditions]]\nprice = -1\n",
                      "r.toml")
                      .value();
  const std::vector<ServingConditions> read = ReadServingConditions(recipe.Root());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].tool, "op");
  EXPECT_EQ(read[0].latency_ms, 400);
  EXPECT_EQ(read[1].tool, "*");
  const Result<void> finished = recipe.Finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_NE(finished.error().message().find("price"), std::string::npos);
}

}  // namespace
}  // namespace hone
