#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "rollout/live_trajectory.h"
#include "rollout/rollout.h"
#include "rollout/step_threads.h"
#include "rollout/turn_work.h"

namespace hone {

// One run of a rollout: who may draw, who waits for what, and what follows from what came.
//
// A trajectory is in one of three places: in the queue, under way (drawing a turn or waiting for
// calls of its own), or waiting for its strategy's decision. Only those under way count against
// max_live, so that a group whose trajectories wait for each other can never block itself.
//
//      AskStrategy: Enqueue
//             v          AskStrategy: its place is named
//         [queued] <------------------------------- [waiting] ----> given up: it is not named
//             v AdmitFromQueue: StartOrResume           ^
//         [drawing] <---------- WaitOrContinue ---------+   (only where the strategy waits)
//             v OnTurns: SubmitCalls  ^
//    +--> [calling]                   | AppendAndContinue: the context is appended to
//    |        v OnResults             | BeginSegment: it is written anew
//    |    [stepping]                  |   (a stop only where the environment's steps wait)
//    |        | OnStepped             |
//    +--------+ (SubmitCalls: the     |
//             v  environment's calls) |
//        CompleteTurn ----------------+
//             v it is over
//          AddLeaf ----> a leaf
//             v somebody else failed
//        RetryOrDrop --> another one is queued, from the same origin; or it is dropped
//
// What only computes is done for many at a time (rollout/turn_work.h): for all whose turns ended,
// or whose last results came, together. What follows is done in their order.
//
// Where weights get newer (carry.h), who has taken its turns with one version is parked until all
// have; then they go on with the next.
//
// A turn without calls passes through [calling] without a stop. StartOrResume, BeginSegment and
// CompleteTurn break a trajectory, too, where the environment cannot go on. Whatever ends goes to
// Retire; once nothing of its group is under way, AskStrategy goes on, or FinishGroup ends it.
class Scheduler {
 public:
  Scheduler(const RolloutOptions& options, const Environment& environment, const Policy& policy,
            const Strategy& strategy, Executor* executor, const Clock& clock,
            std::span<const GroupRequest> requests);

  Result<RolloutResult> Run(std::stop_token stop);

 private:
  using QueueKey = std::pair<size_t, uint64_t>;  // group, trajectory's number

  // --- groups
  Result<void> AdmitFromQueue();
  void OpenAhead();
  Result<void> BeginGroup(size_t index);
  Result<void> OpenPrompt(LiveGroup* group);
  struct Candidate {  // a place, as the strategy may name it
    const Progress* progress;
    std::shared_ptr<const BranchPoint> branch_point;  // null: the open ones have none yet
    LiveTrajectory* waiting;
  };
  static std::vector<Candidate> TakeCandidates(LiveGroup* group);
  Result<void> AskStrategy(LiveGroup* group);
  Result<void> Extend(LiveGroup* group, int64_t trajectories, Candidate* at);
  void FinishGroup(LiveGroup* group);

  // --- trajectories
  void Enqueue(LiveGroup* group, std::shared_ptr<const BranchPoint> origin, TrajectoryPath path,
               int64_t repetitions);
  Result<void> StartOrResume(LiveTrajectory* trajectory);
  Result<void> DrawTurn(LiveTrajectory* trajectory);
  Result<std::shared_ptr<const BranchPoint>> BranchPointOf(const LiveTrajectory& trajectory);
  Result<void> AppendAndContinue(LiveTrajectory* trajectory, Node next);
  Result<void> BeginSegment(LiveTrajectory* trajectory);
  Result<void> WaitOrContinue(LiveTrajectory* trajectory);
  void CountDrawer();
  bool IsCarried(const LiveTrajectory& trajectory) const;
  void Park(LiveTrajectory* trajectory);
  Result<void> GoOnWithNextVersion(std::stop_token stop);
  void ReleaseTrajectory(LiveTrajectory* trajectory);
  Result<void> AddLeaf(LiveTrajectory* trajectory, Ending ending, Blame blame);
  Result<void> RetryOrDrop(LiveTrajectory* trajectory, Blame blame, std::string problem);
  Result<void> Retire(LiveTrajectory* trajectory, bool counts);

  // --- events
  Result<void> OnTurns(const std::vector<TurnDrawer::Id>& sequences);
  LiveTrajectory* TakeTurn(TurnDrawer::Id sequence);
  Result<void> OnTurn(LiveTrajectory* trajectory);
  Result<void> TakeOutcomes();
  LiveTrajectory* OnOutcome(CallOutcome outcome);
  Result<void> SubmitCalls(LiveTrajectory* trajectory, const std::vector<Call>& calls);
  Result<void> OnResults(std::span<LiveTrajectory* const> trajectories);
  Result<void> OnStepped(LiveTrajectory* trajectory);
  Result<void> WaitForStep();
  Result<void> CompleteTurn(LiveTrajectory* trajectory);

  const RolloutOptions& options_;
  const Environment& environment_;
  const Policy& policy_;
  const Strategy& strategy_;
  Executor* const executor_;
  const Clock& clock_;
  const std::span<const GroupRequest> requests_;
  const bool always_appends_;  // no trajectory can need a second segment

  RolloutResult result_;
  TurnWork work_;
  int64_t version_, newer_ = 0;  // that draws; versions that came after the first
  std::vector<LiveTrajectory*> parked_;
  std::unique_ptr<TurnDrawer> drawer_;
  size_t next_group_ = 0;
  std::deque<Result<TurnWork::Opened>> opened_;          // of the next groups
  std::map<size_t, std::unique_ptr<LiveGroup>> groups_;  // begun and not done
  uint64_t next_number_ = 0;
  std::map<QueueKey, LiveTrajectory*> queue_;
  int64_t live_ = 0;
  std::map<TurnDrawer::Id, LiveTrajectory*> drawing_;
  struct Awaited {
    LiveTrajectory* trajectory = nullptr;
    size_t call = 0;         // which of its calls
    bool may_repeat = true;  // carrying it out twice is as carrying it out once
  };
  std::map<uint64_t, Awaited> tickets_;
  StepThreads steps_;               // after what they work on: they end first
  int64_t wanted_ = 0, ended_ = 0;  // trajectories, for progress
};

}  // namespace hone
