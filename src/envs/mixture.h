#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "envs/registration.h"

// Several environments as one: everybody else sees one Environment with one source of tasks.
//
// A task says whose it is: metadata.environment is the name of its environment, and its id begins
// with it ("desk/..."), for two environments may have the same ids. What the environment itself is
// given has its own id again, so that a task has the same world here and alone.

namespace hone {

// The member of a task's metadata that says whose it is.
inline constexpr std::string_view kEnvironmentKey = "environment";

// All of them in one. Names must differ, weights be above 0. Tools, traits, agents and teachers are
// the task's own; where an environment has no teacher, its tasks are shown by the gold agent.
LoadedEnvironment Mixed(std::vector<EnvironmentMember> members);

// How often each environment is practised, by name; those not named are not. Empty: as the weights
// of the members say.
using EnvironmentMix = std::map<std::string, double>;

// The same mixture with other weights in training. Practised tasks of endless environments begin
// with their number `first`, so that a later stage need not pose those of an earlier one.
LoadedEnvironment Remixed(const LoadedEnvironment& mixture, const EnvironmentMix& mix,
                          uint64_t first);

// The training tasks: endless. Of every thousand tasks in a row each environment has its share,
// spread evenly, and at least one. Finite environments begin again at their end, each round in an
// order of its own. All other splits have the tasks of all environments in turn.
std::unique_ptr<TaskSource> NewMixedTasks(std::span<const EnvironmentMember> members,
                                          const EnvironmentMix& mix, uint64_t first);

}  // namespace hone
