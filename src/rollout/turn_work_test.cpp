// What only computes is shared among threads: the trees are the same, and what goes wrong is told.

#include "rollout/turn_work.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "rollout/arpo.h"
#include "rollout/strategies.h"
#include "support/desk_rollout.h"

namespace hone {
namespace {

using OnTurnStep = std::function<void(const Task&)>;

class ToldEpisode final : public Episode {
 public:
  ToldEpisode(std::unique_ptr<Episode> inner, Task task, OnTurnStep on_step)
      : inner_(std::move(inner)), task_(std::move(task)), on_step_(std::move(on_step)) {}

  const Opening& opening() const override { return inner_->opening(); }
  EnvironmentTurn Step(const AgentTurn& turn) override {
    on_step_(task_);
    return inner_->Step(turn);
  }
  Json final_state() const override { return inner_->final_state(); }
  Result<std::unique_ptr<Episode>> Clone() const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> copy, inner_->Clone());
    return std::unique_ptr<Episode>(
        std::make_unique<ToldEpisode>(std::move(copy), task_, on_step_));
  }

 private:
  const std::unique_ptr<Episode> inner_;
  const Task task_;
  const OnTurnStep on_step_;
};

// An environment that says whether its episodes are apart, and tells of its steps.
class Telling final : public Environment {
 public:
  Telling(
      const Environment& inner, bool apart, OnTurnStep on_step = [](const Task&) {})
      : inner_(inner), on_step_(std::move(on_step)), traits_(inner.traits()) {
    traits_.episodes_apart = apart;
  }

  const EnvironmentTraits& traits() const override { return traits_; }
  const std::shared_ptr<const Toolbox>& tools() const override { return inner_.tools(); }
  Result<std::unique_ptr<Episode>> Open(const Task& task, uint64_t seed) const override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<Episode> episode, inner_.Open(task, seed));
    return std::unique_ptr<Episode>(
        std::make_unique<ToldEpisode>(std::move(episode), task, on_step_));
  }

 private:
  const Environment& inner_;
  const OnTurnStep on_step_;
  EnvironmentTraits traits_;
};

DeskPolicy::Options WithThreads(int threads) {
  return {.tasks = 6, .steps = 120, .threads = threads};
}

TEST(TurnWorkTest, TreesDoNotDependOnThreadsNorOnWhetherEpisodesAreApart) {
  DeskPolicy one(WithThreads(1)), many(WithThreads(5));
  const Telling apart(many.environment(), true), together(many.environment(), false);
  EXPECT_TRUE(one.environment().traits().episodes_apart);
  for (const char* name : {"chains", "arpo", "portool", "tree-grpo"}) {
    SCOPED_TRACE(name);
    const std::unique_ptr<Strategy> strategy = NewStrategy(name).value();
    const std::vector<Tree> trees =
        Unmeasured(Roll(&one, one.Requests(6), {.strategy = strategy.get()}).trees);
    for (const Environment* environment :
         {static_cast<const Environment*>(&apart), static_cast<const Environment*>(&together)}) {
      EXPECT_EQ(trees, Unmeasured(Roll(&many, many.Requests(6),
                                       {.strategy = strategy.get(), .environment = environment})
                                      .trees));
    }
  }
}

TEST(TurnWorkTest, StepsOfEpisodesThatAreApartAreUnderWayAtTheSameTime) {
  DeskPolicy desk({.tasks = 6, .threads = 2});
  std::latch both(2);
  std::atomic<int> met = 0;
  thread_local bool came = false;
  const Telling apart(desk.environment(), true, [&](const Task&) {
    if (std::exchange(came, true)) return;
    both.count_down();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!both.try_wait() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    met += both.try_wait() ? 1 : 0;
  });
  // Without chance the turns of a group end together, and are more than one thread takes at once.
  Roll(&desk, desk.Requests(6),
       {.environment = &apart, .sampling = {.temperature = 0, .forbidden_set = 1}});
  EXPECT_EQ(met, 2);
}

TEST(TurnWorkTest, StepsOfEpisodesThatAreNotApartAreOneAfterTheOther) {
  DeskPolicy desk({.tasks = 6, .threads = 4});
  const std::thread::id asker = std::this_thread::get_id();
  int64_t steps = 0;
  const Telling together(desk.environment(), false, [&](const Task&) {
    EXPECT_EQ(std::this_thread::get_id(), asker);
    ++steps;
  });
  Roll(&desk, desk.Requests(6), {.environment = &together});
  EXPECT_GT(steps, 36);
}

TEST(TurnWorkTest, WhatAStepThrowsIsThrownWhereTheRolloutIsRun) {
  for (const bool apart : {true, false}) {
    DeskPolicy desk({.tasks = 6, .threads = 4});
    const std::string broken = desk.tasks()[3].id;
    const Telling throwing(desk.environment(), apart, [&](const Task& task) {
      if (task.id == broken) throw std::runtime_error("no step for " + task.id);
    });
    try {
      Roll(&desk, desk.Requests(6), {.environment = &throwing});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "no step for " + broken);
    }
  }
}

TEST(TurnWorkTest, TimeOfSharedWorkIsTimeThatPassed) {
  DeskPolicy desk(WithThreads(4));
  const RolloutSeconds seconds = Roll(&desk, desk.Requests(6)).counts.seconds;
  EXPECT_GT(seconds.text, 0);
  EXPECT_GT(seconds.environment, 0);
  EXPECT_LE(seconds.text + seconds.environment + seconds.sampling + seconds.waiting, seconds.total);
}

}  // namespace
}  // namespace hone
