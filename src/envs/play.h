#pragma once

#include <memory>
#include <string>
#include <vector>

#include "envs/environment.h"
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
  // Whether it walked away instead: then that turn does not count, and the episode is interrupted.
  virtual bool left() const { return false; }
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

// Plays one episode to its end. The executor must have no other calls under way. An agent that
// never ends is stopped after `max_turns` (turn_limit).
Result<Playthrough> Play(const Environment& environment, const Task& task, uint64_t seed,
                         Agent* agent, Executor* executor, const PlayIdentity& identity = {},
                         int64_t max_turns = 256);

// The whole conversation as chat messages: what a model is shown to imitate.
Json MessagesOf(const Playthrough& playthrough);

}  // namespace hone
