#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "envs/environment.h"
#include "tools/caller.h"
#include "tools/executor.h"

namespace hone {

// What has been played so far.
struct PlayedTurn {
  AgentTurn agent;
  EnvironmentTurn environment;  // with everything that Resume added
};

// Somebody who plays without a model: a script, a person. One episode each.
class Agent {
 public:
  virtual ~Agent() = default;
  // The next turn: calls, an answer or faults. Results are not the agent's to fill in.
  virtual AgentTurn Act(const Opening& opening, const std::vector<PlayedTurn>& turns) = 0;
  // Whether it walked away instead: then that turn does not count, and the episode ends as `ending`
  // says, for the reason that `problem` gives.
  virtual bool left() const { return false; }
  virtual Ending ending() const { return Ending::kInterrupted; }
  virtual std::string problem() const { return ""; }
};

struct Playthrough {
  Opening opening;
  std::vector<PlayedTurn> turns;
  Ending ending = Ending::kInterrupted;
  Blame blame = Blame::kNone;
  Json final_state;

  bool success() const;        // the environment's verdict is true
  int64_t CountCalls() const;  // of the agent
};

// Under which names calls are recorded.
struct PlayIdentity {
  std::string run = "play";
  std::string path = "0";
};

// Where episodes are played, by whom calls are carried out, and for how long.
struct PlayPlace {
  const Environment* environment = nullptr;
  // The outcomes of calls that are made at once, in their order.
  std::function<std::vector<CallOutcome>(std::vector<CallRequest>)> carry_out;
  PlayIdentity identity;
  int64_t max_turns = 256;  // an agent that never ends is stopped (turn_limit)
};
// Calls go to a caller, which many episodes may share, each on a thread of its own.
PlayPlace PlaceOf(const Environment& environment, Caller* caller, PlayIdentity identity,
                  int64_t max_turns = 256);

// Plays one episode to its end.
Result<Playthrough> Play(const PlayPlace& place, const Task& task, uint64_t seed, Agent* agent);

// The same. The executor must have no other calls under way. An agent that
// never ends is stopped after `max_turns` (turn_limit).
Result<Playthrough> Play(const Environment& environment, const Task& task, uint64_t seed,
                         Agent* agent, Executor* executor, const PlayIdentity& identity = {},
                         int64_t max_turns = 256);

// The whole conversation as chat messages: what a model is shown to imitate.
Json MessagesOf(const Playthrough& playthrough);

}  // namespace hone
