#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/env_recipe.h"

namespace hone {

// Agents that need no model and no person: gold (as the task's plan says), random, idle,
// always-call.
std::vector<std::string> AgentNames();

// Plays one task; the seed is that of its world.
using AgentMaker = std::function<Result<std::unique_ptr<Agent>>(const Task& task, uint64_t seed)>;

struct EpisodesRequest {
  std::string agent;
  AgentMaker make;  // who plays instead of an agent of that name; null: nobody
  Split split = Split::kTrain;
  uint64_t first = 0, count = 1;
  uint64_t seed = 1;  // of the worlds and of the agent
};

struct EpisodeReport {
  std::string task;
  // The plan cannot be carried out in this world, or the agent left; empty: it was played.
  std::string void_because;
  Playthrough played;

  Json ToJson() const;  // the whole conversation and how it ended
};

struct EpisodesReport {
  std::vector<EpisodeReport> episodes;
  int64_t succeeded = 0, failed = 0, voided = 0;
  std::map<CallSource, int64_t> sources;  // calls by who answered them

  Json Summary() const;
  std::string View() const;   // what did not succeed, and the sum
  std::string Lines() const;  // JSON Lines, one episode each
};

// Plays tasks one after the other. Where a simulator answers, what is right is what is right in its
// world (envs/gold.h).
Result<EpisodesReport> PlayEpisodes(const OpenedEnvironment& opened, const EpisodesRequest& request,
                                    AnsweredRun* run);

// The task as it is to be played in this run, and the seed of its world.
Result<Task> TaskInRun(const OpenedEnvironment& opened, Task task, uint64_t seed, AnsweredRun* run);

}  // namespace hone
