#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "envs/environment.h"
#include "tools/executor.h"

namespace hone {

// The seed of the world that a task is played in: each task has its own, so that what is recorded
// in one world can be held against what a simulator makes up in another.
uint64_t WorldSeed(uint64_t seed, const Task& task);

// A task with what is right in the world that answers.
struct GoldTask {
  Task task;
  // Why the task makes no sense there: its plan meets an error result. Empty: it does.
  std::string void_because;
};

// What is right where a simulator answers the calls: not what the real world would say, but what
// this world says to everybody who asks.
//
// A task with a plan gets the calls and the answer that the plan gives there. One without keeps its
// gold calls; its answer stays only where all of them are answered from the journal or computed,
// which is then the real world's; else the answer goes, and only the calls teach.
//
// Where the environment goes by answers alone (EnvironmentTraits::judged_by_answers) nothing is
// carried out, and tasks stay as they are.
//
// For worlds without consequences: the plans' writes are carried out. `seeds` are those that the
// episodes will be opened with, one per task. The executor must have no other calls under way. The
// error names a task that is not one.
Result<std::vector<GoldTask>> GoldInWorld(const Environment& environment,
                                          std::span<const Task> tasks,
                                          std::span<const uint64_t> seeds, Executor* executor,
                                          const std::string& run);

// The same in two steps, for questions that several ask: each is answered as it would be beside all
// others.
struct GoldQuestion {
  Task task;
  uint64_t seed = 0;
  int64_t again = 0;  // how often the task was asked about before: each may have another world
};
// Who answers them, in an inquiry of this name.
using AskGold = std::function<Result<std::vector<GoldTask>>(
    std::span<const GoldQuestion> questions, const std::string& run)>;
std::vector<GoldQuestion> QuestionsAbout(std::span<const Task> tasks,
                                         std::span<const uint64_t> seeds);
Result<std::vector<GoldTask>> AskForGold(const Environment& environment,
                                         std::span<const GoldQuestion> questions,
                                         Executor* executor, const std::string& run);

}  // namespace hone
