#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "learn/step.h"
#include "rewards/program_runner.h"
#include "train/stage_context.h"

namespace hone {

// Calls of a stage by who answered them.
using CallCounts = std::map<CallSource, int64_t>;
CallCounts CallsSince(const CallCounts& before, const CallCounts& now);

// A policy as a stage practises: with the recipe's sampling, strategy and limits. `version`: so
// many steps of the stage the engine's weights have made. The engine and the executor must outlive
// the rollout.
Result<Rollout> PracticeOf(const StageContext& context, Engine* engine, Executor* executor,
                           int64_t version, CarryOptions carry = {});

// What the groups of a stage are played and scored with, beside a policy.
struct DrawingTools {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<ProgramRunner> runner;  // of answers that are programs
  std::unique_ptr<Rewarder> rewarder;

  static Result<DrawingTools> Open(const StageContext& context);
};

// The weights of a policy after so many steps of its stage.
struct VersionedWeights {
  int64_t version = 0;
  std::shared_ptr<const Model> model;
};

// Draws and scores the groups of one step on a thread of its own, with weights and connections to
// tools and judges of its own, while the policy goes on learning. What is drawn is a function of
// the weights and the tasks, as everywhere: that it happens beside something else is not seen in
// it.
class DrawingLane {
 public:
  // The context must outlive it.
  static Result<std::unique_ptr<DrawingLane>> Open(const StageContext& context);
  // Gives up what is under way.
  ~DrawingLane();
  DrawingLane(const DrawingLane&) = delete;
  DrawingLane& operator=(const DrawingLane&) = delete;

  struct Drawn {
    DrawnGroups groups;  // with scores
    CallCounts calls;
    int64_t nanodollars = 0;
    // On the virtual clock of tools with conditions: how long each version of the weights drew.
    std::vector<Clock::Duration> took;
  };
  // Begins to draw with these weights. Episodes are carried over to `newer` versions after them,
  // one by one (CarryOptions), which Offer brings. `schedule` is where the weights of rewards
  // stand, in steps. Nothing may be under way (CHECK).
  Result<void> Begin(const VersionedWeights& weights, int64_t newer, PosedTasks posed,
                     int64_t schedule);
  // The version that comes after the last one. Those that are not wanted are let go.
  void Offer(const VersionedWeights& weights);
  // What was begun, once all of it is there; throws what was thrown meanwhile.
  Result<Drawn> Wait();
  void Abandon();

 private:
  explicit DrawingLane(const StageContext& context) : context_(context) {}
  Result<Drawn> Draw(const Rollout& rollout, PosedTasks posed, int64_t schedule,
                     std::stop_token stop);
  Result<int64_t> TakeNext(std::stop_token stop);
  void NoteTime();

  const StageContext& context_;
  DrawingTools tools_;
  std::unique_ptr<Engine> engine_;  // none before the first Begin
  Clock::Duration noted_{0};        // of the virtual clock
  std::vector<Clock::Duration> took_;
  Mutex mutex_;
  ConditionVariable offered_;
  std::deque<VersionedWeights> newer_ HONE_GUARDED_BY(mutex_);
  int64_t wanted_ HONE_GUARDED_BY(mutex_) = 0;  // versions that have not been offered
  std::stop_source stop_;
  std::future<Result<Drawn>> under_way_;
};

}  // namespace hone
