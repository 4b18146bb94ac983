#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "tools/sessions.h"
#include "tools/tool_spec.h"

namespace hone {

// What a tool answered, or is said to have answered.
struct PlayedResult {
  CallStatus status = CallStatus::kOk;  // or kToolError
  std::string content;
  std::string problem;  // why there is no answer after all: what came could not be read

  bool operator==(const PlayedResult&) const = default;
};

// A call whose answer the simulated world has given already.
struct KnownResult {
  std::string tool;
  Json arguments;
  PlayedResult answer;

  bool operator==(const KnownResult&) const = default;
};

// A call as somebody who plays the tool sees it. This is all that an answer may depend on; task,
// conversation and gold are not in it.
struct SimulatedCall {
  const ToolSpec* spec = nullptr;
  Json arguments;
  // What this trajectory wrote before and the call may show, in order.
  std::vector<Sessions::EarlierWrite> writes;
  // What the world says of the same things now (simulate/read_views.h); last, where there are
  // writes, what it said to this very call before them.
  std::vector<KnownResult> known;
  Rng rng{0};  // named by all of the above, by the environment's seed and by the number of the try
  std::string problem;  // what was wrong with the try before; empty at the first
};

// Plays tools: says what one would have answered. Thread-safe.
class Player {
 public:
  virtual ~Player() = default;

  // Changes whenever answers may: weights, prompts, settings, recorded calls it looks at.
  virtual std::string version() const = 0;
  // Whether `writes` and `known` mean anything to it, so that its answers can be held to them.
  virtual bool minds_state() const = 0;
  // One try. An Error is a failure to answer at all (nobody there, budget spent), which says
  // nothing about the call.
  virtual Result<PlayedResult> Play(const SimulatedCall& call) = 0;
};

// Draws from the output schema alone: valid, the same for the same call, and knowing nothing. What
// a simulator teaches has to be more than what this one does. A tool without an output schema
// answers with a word.
std::unique_ptr<Player> NewRandomPlayer();

}  // namespace hone
