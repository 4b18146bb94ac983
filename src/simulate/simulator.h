#pragma once

#include <memory>

#include "simulate/journaled_calls.h"
#include "simulate/players/checked_play.h"
#include "simulate/players/player.h"
#include "tools/responder.h"
#include "tools/timeline.h"

namespace hone {

struct SimulatorCounts {
  int64_t computed = 0;      // calls answered by the real tool, which is pure and exact
  int64_t recorded = 0;      // questions answered by what the real tools said to them
  int64_t played = 0;        // different answers that were made up
  int64_t tries = 0;         // what that took
  int64_t repaired = 0;      // answers in which something that was written had to be put right
  int64_t invalid = 0;       // tries that did not fit the output schema or could not be read
  int64_t contradicted = 0;  // tries that contradicted what was written
  int64_t faults = 0;        // calls that got no answer
};

// Answers calls as the tools would: a computable tool by computing, a question that was recorded as
// it was answered then, every other by a player whose answers are checked against the tool's output
// schema and against what the trajectory wrote before, tried again where they do not fit, and else
// a fault of the simulator (`unavailable`, blame simulator) that no agent pays for.
//
// An answer is a sample that is fixed by the environment's seed, the tool, the canonical arguments,
// what was written before, the player's version and the record. Who asks, when, how often and
// beside whom makes no difference; two who ask at once get one answer. Thread-safe.
class Simulator : public Responder {
 public:
  virtual SimulatorCounts counts() const = 0;
};

// `timeline` runs players that take their time; null: answers are made where they are asked for. It
// must outlive the simulator. `recorded` is part of the simulated world, so that what is made up
// agrees with it: what a write is refused for is what the recorded read shows. Null: all is made
// up.
std::shared_ptr<Simulator> NewSimulator(std::shared_ptr<Player> player, CheckOptions options,
                                        Timeline* timeline,
                                        std::shared_ptr<const JournaledCalls> recorded = nullptr);

}  // namespace hone
