#pragma once

#include <string>
#include <vector>

#include "envs/environment.h"

namespace hone {

// What can be had without a single call.
struct Shortcuts {
  int64_t tasks = 0;        // that it was measured on
  double constant = 0;      // success of the one answer that is best for all tasks
  std::string answer;       // which
  double without_call = 0;  // success of the best answer for each kind of task
};

// Plays the tasks without calling, saying the same thing whenever there is something to say. What
// is tried is what is right most often: the tasks' answers, what they want told, and all of the
// latter in one breath. The best answer is chosen on every second task and measured on the others,
// so that luck in choosing does not count. Judged by the environment; right is what the tasks say.
// The error says what is wrong with a task.
Result<Shortcuts> MeasureShortcuts(const Environment& environment, const std::vector<Task>& tasks,
                                   uint64_t seed);

}  // namespace hone
