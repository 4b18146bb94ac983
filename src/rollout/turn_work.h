#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "rollout/live_trajectory.h"
#include "rollout/rollout.h"

namespace hone {

// The part of playing that only computes: how an episode begins, what a turn's tokens say, what the
// environment does about it, what the context gets next. Each is a function of what one trajectory
// or one group has. So the threads of the policy's engine do it for many at a time, and what comes
// of it does not depend on how many threads there are. The rest, which is the scheduler's, goes one
// after the other in an order of its own.
//
// Who asks is one thread, and nobody touches the trajectories and their trees meanwhile. What is
// thrown over one of them is kept for its place in the order (Ahead::failure). Episodes whose
// environment does not say that they are apart are opened and stepped by who asks.
class TurnWork {
 public:
  // All must outlive it. Time goes to `seconds` as it passes for who asks; where text and
  // environment were under way together, in the proportion of what the threads spent on each.
  TurnWork(const RolloutOptions& options, const Environment& environment, const Policy& policy,
           const Clock& clock, RolloutSeconds* seconds);

  // Whether Open may be asked for groups that are to begin later.
  bool apart() const { return apart_; }

  struct Opened {  // the beginning of a group
    std::unique_ptr<Episode> episode;
    std::vector<Node> prompt;
    std::shared_ptr<const Conversation> said;  // as Progress has it
  };
  std::vector<Result<Opened>> Open(std::span<const GroupRequest> requests);

  // What the turns that were drawn say: the last nodes of their trajectories. A turn without calls
  // is stepped, too, where episodes are apart.
  void Read(std::span<LiveTrajectory* const> trajectories);
  // The environment's say about turns whose results are all there, and what follows from it.
  void Step(std::span<LiveTrajectory* const> trajectories);
  // The same, where the step was carried out by somebody else.
  void Follow(LiveTrajectory* trajectory);

  // The step alone; threads of steps that wait use it.
  static void StepEpisode(LiveTrajectory* trajectory);

 private:
  struct Spent {  // by one thread
    double text = 0, environment = 0;
  };
  using Piece = std::function<void(size_t, Spent*)>;
  void Share(size_t count, size_t grain, const Piece& piece);
  void ShareTrajectories(std::span<LiveTrajectory* const> trajectories,
                         const std::function<void(LiveTrajectory*, Spent*)>& piece);
  Result<Opened> OpenOne(const GroupRequest& request, Spent* spent) const;
  void ReadOne(LiveTrajectory* trajectory, Spent* spent) const;
  void StepOne(LiveTrajectory* trajectory, Spent* spent) const;
  void FollowOne(LiveTrajectory* trajectory, Spent* spent) const;

  const RolloutOptions& options_;
  const Environment& environment_;
  const Policy& policy_;
  const Clock& clock_;
  RolloutSeconds* const seconds_;
  const bool always_appends_;
  const bool apart_;
};

}  // namespace hone
