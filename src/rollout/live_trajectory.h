#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "envs/environment.h"
#include "rollout/group_tree.h"
#include "rollout/rollout.h"
#include "rollout/turn_drawer.h"
#include "text/call_format.h"
#include "tools/sessions.h"

// What the scheduler keeps of groups and trajectories while they are under way.

namespace hone {

// How far a trajectory has come.
struct Progress {
  TrajectoryPath path;
  NodeId node = kNoNode;  // the last one, in the group's tree
  int64_t tokens = 0;     // up to its end, from the beginning of its segment
  int32_t turns = 0;
  int32_t segment = 0;            // that it is in
  int32_t environment_turns = 0;  // rounds of the environment's own calls
  bool after_results = false;
  NodeId first_turn = kNoNode, last_turn = kNoNode;  // of the policy, in the group's tree
  // What was said so far; only with a dialect that may have to begin a new segment.
  std::shared_ptr<const Conversation> said;
};

// A place from which trajectories begin. Its tokens are the first ones of a sequence that lives as
// long as the group does.
struct BranchPoint {
  Progress progress;
  TurnDrawer::Id sequence = -1;
  std::unique_ptr<Episode> episode;    // null for the prompt: episodes are opened there
  std::shared_ptr<Sessions> sessions;  // the same
};

struct LiveGroup;

// What was computed of a turn before its place in the order came (rollout/turn_work.h).
struct Ahead {
  std::optional<UnreadCall> unread;          // a call in a format that was not chosen
  bool stepped = false;                      // the environment has had its say
  std::optional<Json> final_state;           // where that was the end
  std::optional<Result<Node>> next;          // else: what the context gets
  std::shared_ptr<const Conversation> said;  // with it; as Progress has it
  std::exception_ptr failure;                // thrown when the place comes
};

// One playthrough.
struct LiveTrajectory {
  LiveGroup* group = nullptr;
  uint64_t number = 0;  // in the order they were named
  std::shared_ptr<const BranchPoint> origin;
  Progress progress;
  int64_t repetitions = 0;  // that came before it
  bool greedy = false;      // it is one of GroupRequest::greedy
  bool acted = false;       // since it parted: may have done something that must not be done twice

  // From its start on.
  std::unique_ptr<Episode> episode;
  std::shared_ptr<Sessions> sessions;
  TurnDrawer::Id sequence = -1;
  std::vector<TokenId> parked;  // the tokens of its sequence, while it has none

  // The turn in progress.
  TurnEnd turn_end = TurnEnd::kEnded;
  AgentTurn agent;
  EnvironmentTurn environment;
  Ahead ahead;
  bool resuming = false;            // the awaited results are of the environment's calls
  std::vector<ToolResult> results;  // of the calls under way, in their order
  size_t awaited = 0;               // how many of them have not come
};

struct LiveGroup {
  size_t index = 0;
  const GroupRequest* request = nullptr;
  uint64_t episode_seed = 0;
  GroupTree tree;
  std::shared_ptr<BranchPoint> prompt;
  std::unique_ptr<Episode> spare;  // opened to see the prompt, for the first trajectory
  uint64_t session_seed = 0;

  std::map<uint64_t, std::unique_ptr<LiveTrajectory>> trajectories;  // not ended, by their number
  std::vector<LiveTrajectory*> waiting;                              // at a place, for the strategy
  std::vector<std::shared_ptr<const BranchPoint>>
      branch_points;                      // to which the strategy may come back
  std::vector<TurnDrawer::Id> sequences;  // to be released when the group is done
  std::map<std::string, int32_t> forks;   // of each path
  int32_t roots = 0;
  int64_t under_way = 0;  // queued, drawing or waiting for calls
  int64_t started = 0, ended = 0;
  uint64_t decisions = 0;
  std::string last_problem;  // of a trajectory that broke
  GroupReport report;
};

}  // namespace hone
