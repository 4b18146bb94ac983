// Environments whose steps wait for others: their trees are the same, and nobody waits for nobody.

#include "rollout/step_threads.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "rollout/arpo.h"
#include "rollout/strategies.h"
#include "support/desk_rollout.h"

namespace hone {
namespace {

using OnStep = std::function<void()>;

class WatchedEpisode final : public Episode {
 public:
  WatchedEpisode(std::unique_ptr<Episode> inner, OnStep on_step)
      : inner_(std::move(inner)), on_step_(std::move(on_step)) {}

  const Opening& opening() const override { return inner_->opening(); }
  EnvironmentTurn Step(const AgentTurn& turn) override {
    on_step_();
    return inner_->Step(turn);
  }
  EnvironmentTurn Resume(const std::vector<ToolResult>& results) override {
    return inner_->Resume(results);
  }
  Json final_state() const override { return inner_->final_state(); }
  Result<std::unique_ptr<Episode>> Clone() const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> copy, inner_->Clone());
    return std::unique_ptr<Episode>(std::make_unique<WatchedEpisode>(std::move(copy), on_step_));
  }

 private:
  const std::unique_ptr<Episode> inner_;
  const OnStep on_step_;
};

// An environment as if it were a program: its steps wait.
class Waiting final : public Environment {
 public:
  explicit Waiting(
      const Environment& inner, OnStep on_step = [] {})
      : inner_(inner), on_step_(std::move(on_step)), traits_(inner.traits()) {
    traits_.steps_wait = true;
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return inner_.tools(); }
  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> episode, inner_.Open(task, seed));
    return std::unique_ptr<Episode>(std::make_unique<WatchedEpisode>(std::move(episode), on_step_));
  }

  void LetOnly(int64_t episodes) { traits_.episodes_at_once = episodes; }

 private:
  const Environment& inner_;
  const OnStep on_step_;
  EnvironmentTraits traits_;
};

TEST(StepThreadsTest, TreesAreTheSameWhetherStepsAreWaitedForOrNot) {
  DeskPolicy desk({.tasks = 4, .steps = 120});
  const Waiting waiting(desk.environment());
  const std::vector<GroupRequest> requests = desk.Requests(4);
  const std::unique_ptr<Strategy> arpo = NewArpo({}).value();
  for (const Strategy* strategy :
       {static_cast<const Strategy*>(nullptr), static_cast<const Strategy*>(arpo.get())}) {
    DeskSetup direct, threaded;
    direct.strategy = threaded.strategy = strategy;
    threaded.environment = &waiting;
    EXPECT_EQ(Unmeasured(Roll(&desk, requests, std::move(direct)).trees),
              Unmeasured(Roll(&desk, requests, std::move(threaded)).trees));
  }
}

TEST(StepThreadsTest, StepsOfDifferentTrajectoriesAreUnderWayAtTheSameTime) {
  // The first step waits for a second one, which a rollout that waits for the first never begins.
  std::mutex mutex;
  std::condition_variable changed;
  int steps = 0;
  bool met = false;
  DeskPolicy desk({.tasks = 2, .steps = 40});
  const Waiting waiting(desk.environment(), [&] {
    std::unique_lock lock(mutex);
    if (++steps == 2) met = true;
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(60), [&] { return met; });
  });
  DeskSetup setup;
  setup.environment = &waiting;
  Roll(&desk, desk.Requests(2), std::move(setup));
  EXPECT_TRUE(met);
}

TEST(StepThreadsTest, NoMoreEpisodesAreOpenThanTheEnvironmentCanHave) {
  DeskPolicy desk({.tasks = 2, .steps = 40});
  std::atomic<int> inside = 0, most = 0;
  Waiting waiting(desk.environment(), [&] {
    const int now = ++inside;
    if (now > most) most = now;
    std::this_thread::yield();
    --inside;
  });
  waiting.LetOnly(1);
  DeskSetup setup;
  setup.environment = &waiting;
  const RolloutResult result = Roll(&desk, desk.Requests(3), std::move(setup));
  EXPECT_EQ(result.counts.leaves, 6);
  EXPECT_EQ(most, 1);
  DeskSetup branching;
  branching.environment = &waiting;
  const std::unique_ptr<Strategy> arpo = NewArpo({}).value();
  branching.strategy = arpo.get();
  const auto refused = TryRoll(&desk, desk.Requests(2), std::move(branching));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("use chains"), std::string::npos);
}

}  // namespace
}  // namespace hone
