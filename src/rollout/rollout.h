#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "envs/environment.h"
#include "record/tree.h"
#include "rollout/carry.h"
#include "rollout/policy.h"
#include "rollout/strategy.h"
#include "rollout/turn_drawer.h"
#include "tools/executor.h"

namespace hone {

// A task to be done several times.
struct GroupRequest {
  Task task;
  uint64_t seed = 0;   // of everything random in the group; also Tree::seed
  int64_t leaves = 1;  // trajectories; strategies with a number of their own ignore it
  // Beside them, trajectories that are drawn greedily, whatever the policy's sampling: what others
  // are compared with (ReMax), never trained on. For strategies that do not branch.
  int64_t greedy = 0;
  // Stands before the path in the identity of its calls ("step-3/7" makes "step-3/7/0"): a run that
  // does a task more than once must tell the groups apart, or one would be answered with what the
  // journal has of the other. Nothing else depends on it.
  std::string scope;
};

// What the episodes of a group with this seed are opened with.
uint64_t EpisodeSeed(uint64_t group_seed);

struct RolloutOptions {
  std::string run = "rollout";  // in the identity of calls
  int64_t max_live = 256;       // trajectories under way at a time
  // How often a trajectory that broke by the fault of somebody else than the agent or its tools is
  // begun again, under a new name and so with new draws, before it leaves the group.
  int64_t retries = 2;
  // Whether what tools do stays done. Then a trajectory that may have done something that must not
  // be done twice (Toolbox::Tool::may_repeat) is never begun again. False: a simulator answers.
  bool in_earnest = true;
  int64_t max_turns = 256;  // of trajectories that no rule of the environment ends
  CarryOptions carry;
  // Who draws the turns of a run; null: the policy's engine. What somebody else says of his tokens
  // stands in the trees as it is; entropies, which Validate wants, are the caller's to add.
  std::function<std::unique_ptr<TurnDrawer>()> drawer = nullptr;
  // For measuring; null: the machine's. Nothing else is decided by it.
  const Clock* clock = nullptr;
  // Told after each trajectory that ended how many have, and how many are known to be wanted.
  std::function<void(int64_t ended, int64_t wanted)> progress;
};

// Who draws the turns of a run of a policy.
std::unique_ptr<TurnDrawer> NewDrawer(const RolloutOptions& options, const Policy& policy);

// Where the time went.
struct RolloutSeconds {
  double sampling = 0;  // computing and drawing tokens
  double waiting = 0;   // handing calls over; and for their answers when there is nothing to draw
  double environment = 0;  // opening, stepping and copying episodes and sessions
  double text = 0;         // rendering, encoding and parsing
  double total = 0;        // of Run; the rest is bookkeeping
};

struct RolloutCounts {
  int64_t groups = 0;
  int64_t leaves = 0;  // in the trees
  int64_t turns = 0;   // drawn
  int64_t calls = 0;   // of the agent
  int64_t environment_calls = 0;
  int64_t sampled_tokens = 0;   // drawn, also by trajectories that left the group
  int64_t computed_tokens = 0;  // that went through the model's layers, prompts included
  int64_t passes = 0;           // through the layers: the fewer, the more are drawn together
  int64_t path_tokens = 0;      // of all leaves' paths, shared ones as often as they are on one
  int64_t tree_tokens = 0;      // of the trees, each once
  int64_t tool_errors = 0;      // calls that did not end ok
  int64_t retries = 0;          // trajectories begun again
  int64_t dropped = 0;          // that left their group because of somebody else
  int64_t given_up = 0;         // by the strategy
  int64_t preemptions = 0;      // sequences to be computed again because the memory was full
  // Turns without a call that look like one in a format that the dialect does not read, and what to
  // tell people of one of them (text/call_format.h); empty: there are none.
  int64_t unread_calls = 0;
  std::string unread_note;
  std::map<std::string, int64_t> endings;  // of the leaves
  std::map<std::string, int64_t> faults;   // broken trajectories by blame, each time it happened
  RolloutSeconds seconds;

  // What share of the tokens on paths is on others, too, and was neither drawn nor computed again.
  double SharedShare() const;
  void Add(const RolloutCounts& other);
  Json ToJson() const;
};

template <typename Wire>
void Fields(Wire& wire, RolloutSeconds& s) {
  wire(s.sampling, s.waiting, s.environment, s.text, s.total);
}
template <typename Wire>
void Fields(Wire& wire, RolloutCounts& c) {
  wire(c.groups, c.leaves, c.turns, c.calls, c.environment_calls, c.sampled_tokens,
       c.computed_tokens, c.passes, c.path_tokens, c.tree_tokens, c.tool_errors, c.retries,
       c.dropped, c.given_up, c.preemptions, c.unread_calls, c.unread_note, c.endings, c.faults,
       c.seconds);
}

// What became of one request.
struct GroupReport {
  std::vector<std::string>
      paths;  // per leaf of the tree: its name, as in the journal, without scope
  int64_t dropped = 0;
  std::string problem;  // why there is no tree at all; empty: there is one
};

template <typename Wire>
void Fields(Wire& wire, GroupReport& report) {
  wire(report.paths, report.dropped, report.problem);
}

struct RolloutResult {
  // One per request, in their order. A group that lost every leaf has a tree without nodes and
  // leaves, which is nothing to score or train on.
  std::vector<Tree> trees;
  std::vector<GroupReport> groups;
  RolloutCounts counts;
};

// Lets a policy do tasks: as many episodes at a time as there may be, each waiting for its own
// tools and for nobody else's.
//
// What the trees are depends on the weights, the requests and what the tools answered, and on
// nothing else: not on the order in which answers come, nor on max_live, nor on the number of
// threads (only the latency on a result is as it was measured). Trees pass Validate
// (record/validate.h), and their log-probabilities are those of Engine::LogProbs, bit for bit,
// where the policy's engine draws. Nodes and leaves stand in the order of the paths' names.
//
// Cheap to make: one per version of the weights, since it keeps the policy as it was given. One
// thread drives it. The environment, the policy's parts, the strategy and the executor must outlive
// it; the executor may have no other user while Run runs.
class Rollout {
 public:
  // Refuses a strategy that branches where an environment's tools have sessions that cannot be had
  // twice; and weights that get newer where trajectories cannot all be open at a time.
  static Result<Rollout> New(RolloutOptions options, const Environment* environment,
                             const Policy& policy, const Strategy* strategy, Executor* executor);

  // Plays all groups to their end. What is wrong with one task or its prompt is that group's
  // problem. An error when stopped (kStopped; what the journal has makes the next run get there
  // without asking again), when requests are such that their calls could not be told apart, when
  // episodes cannot be copied as the strategy needs it, and when a turn does not fit into the
  // sampler's memory.
  Result<RolloutResult> Run(std::span<const GroupRequest> requests,
                            std::stop_token stop = {}) const;

 private:
  Rollout(RolloutOptions options, const Environment* environment, const Policy& policy,
          const Strategy* strategy, Executor* executor)
      : options_(std::move(options)),
        environment_(environment),
        policy_(policy),
        strategy_(strategy),
        executor_(executor) {}

  RolloutOptions options_;
  const Environment* environment_;
  Policy policy_;
  const Strategy* strategy_;
  Executor* executor_;
};

}  // namespace hone
