#pragma once

#include <string>

#include "simulate/players/player.h"
#include "simulate/result_check.h"

namespace hone {

struct CheckOptions {
  int64_t tries = 4;  // at an answer that fits, before the simulator is at fault
  // Put what was written in the place of what contradicts it; else the answer is tried again.
  bool repair = true;
};

// An answer that fits, or why there is none, and what it took.
struct CheckedPlay {
  PlayedResult answer;
  std::string fault;
  bool passing = false;  // the fault may be gone the next time
  int64_t tries = 0;
  int64_t invalid = 0;       // tries that did not fit the output schema or could not be read
  int64_t contradicted = 0;  // tries that contradicted what was written
  bool repaired = false;
};

// Lets a player answer until the answer fits the output schema and what was written. `key` names
// the call and all that the answer may depend on; tries draw from streams of that name.
CheckedPlay PlayChecked(Player* player, SimulatedCall call, const std::string& key,
                        const CheckOptions& options, AnswerChecker* checker);

}  // namespace hone
