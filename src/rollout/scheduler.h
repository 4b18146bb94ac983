#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "rollout/rollout.h"
#include "rollout/trajectory.h"

namespace hone {

// One run of a rollout: who may draw, who waits for what, and what follows from what came.
//
// A trajectory is in one of three places: in the queue, under way (drawing a turn or waiting for
// calls of its own), or waiting for its strategy's decision. Only those under way count against
// max_live, so that a group whose trajectories wait for each other can never block itself.
class Scheduler {
 public:
  Scheduler(const RolloutOptions& options, const Environment& environment, const Policy& policy,
            const Strategy& strategy, Executor* executor, const Clock& clock,
            std::span<const GroupRequest> requests);

  Result<RolloutResult> Run(std::stop_token stop);

 private:
  using QueueKey = std::pair<size_t, uint64_t>;  // group, trajectory's number

  // --- groups
  Result<void> Admit();
  Result<void> BeginGroup(size_t index);
  Result<void> OpenPrompt(LiveGroup* group);
  Result<void> Decide(LiveGroup* group);
  void FinishGroup(LiveGroup* group);

  // --- trajectories
  void Enqueue(LiveGroup* group, std::shared_ptr<const Spot> origin, TrajectoryPath path,
               int64_t repetitions);
  Result<void> Go(LiveTrajectory* trajectory);
  Result<void> Generate(LiveTrajectory* trajectory);
  Result<std::shared_ptr<const Spot>> SpotOf(const LiveTrajectory& trajectory);
  Result<void> GoOn(LiveTrajectory* trajectory, Node next);
  Result<void> BeginSegment(LiveTrajectory* trajectory);
  Result<void> Proceed(LiveTrajectory* trajectory);
  void Rest(LiveTrajectory* trajectory);
  Result<void> Finish(LiveTrajectory* trajectory, Ending ending, Blame blame);
  Result<void> Break(LiveTrajectory* trajectory, Blame blame, std::string problem);
  Result<void> End(LiveTrajectory* trajectory, bool counts);

  // --- events
  Result<void> OnTurn(Sampler::Id sequence);
  Result<void> OnOutcome(CallOutcome outcome);
  Result<void> Submit(LiveTrajectory* trajectory, const std::vector<Call>& calls);
  Result<void> OnResults(LiveTrajectory* trajectory);
  Result<void> Settle(LiveTrajectory* trajectory);

  const RolloutOptions& options_;
  const Environment& environment_;
  const Policy& policy_;
  const Strategy& strategy_;
  Executor* const executor_;
  const Clock& clock_;
  const std::span<const GroupRequest> requests_;
  const bool always_appends_;  // no trajectory can need a second segment

  std::unique_ptr<Sampler> sampler_;
  size_t next_group_ = 0;
  std::map<size_t, std::unique_ptr<LiveGroup>> groups_;  // begun and not done
  uint64_t next_number_ = 0;
  std::map<QueueKey, LiveTrajectory*> queue_;
  int64_t live_ = 0;
  std::map<Sampler::Id, LiveTrajectory*> drawing_;
  struct Awaited {
    LiveTrajectory* trajectory = nullptr;
    size_t call = 0;         // which of its calls
    bool may_repeat = true;  // carrying it out twice is as carrying it out once
  };
  std::map<uint64_t, Awaited> tickets_;
  int64_t wanted_ = 0, ended_ = 0;  // trajectories, for progress
  RolloutResult result_;
};

}  // namespace hone
