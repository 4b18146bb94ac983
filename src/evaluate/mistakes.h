#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "envs/environments.h"

namespace hone {

// Agents that go about a task in the right way and slip: the wrong calls that somebody who learns
// really makes, rather than noise. Immutable and thread-safe.
//
// Some environments have a teacher for it (JournalingManner::teacher). Every task can be played by
// the gold agent with each call spoilt at the given rate: one of its arguments is what the gold
// call of another task has there, or, as often, what gold calls have under any name (a city for a
// person), which tools refuse.
class Mistakes {
 public:
  // `rate` is from 0 to 1; `tasks` are those that wrong arguments are taken from.
  Mistakes(const LoadedEnvironment& loaded, const std::vector<Task>& tasks, double rate);

  // The teacher where there is one, else the gold agent that slips. The error says what is wrong
  // with the task.
  Result<std::unique_ptr<Agent>> AgentFor(const Task& task, Rng rng) const;
  Result<std::unique_ptr<Agent>> SlippingAgentFor(const Task& task, Rng rng) const;

  // What gold calls have: by tool and argument, and all of it.
  struct Values {
    std::map<std::pair<std::string, std::string>, std::vector<Json>> by_place;
    std::vector<Json> all;
  };

 private:
  std::function<Result<std::unique_ptr<Agent>>(const Task&)> gold_agent_;
  TeacherMaker teacher_;
  std::shared_ptr<const Values> values_;
  double rate_;
};

}  // namespace hone
