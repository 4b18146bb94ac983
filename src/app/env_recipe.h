#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "envs/environments.h"
#include "simulate/backend_options.h"

namespace hone {

// What a command line may name as an environment, for its help: "desk, quiz and service, or a
// recipe
// (.toml)".
std::string NamedEnvironments();

// An environment as a command line names it.
struct EnvironmentChoice {
  std::string name;                    // as NamedEnvironments says
  std::vector<std::string> overrides;  // "environment.tasks.hard=true"
  std::string mode, journal;           // over the recipe's [answers]; empty: as it says
};

// What a recipe says of an environment, its tools and who answers. Nothing has been started.
struct EnvironmentRecipe {
  EnvironmentOptions environment;
  std::vector<ToolkitOptions> tools;
  BackendOptions backend;
};
// The error has all problems of the recipe, a line each.
Result<EnvironmentRecipe> ReadEnvironmentRecipe(const EnvironmentChoice& choice);

struct OpenedEnvironment {
  LoadedEnvironment loaded;
  BackendOptions backend;
};
// Starts the tools that are needed, reads the tasks. The error has all problems of the tasks.
Result<OpenedEnvironment> OpenEnvironment(const EnvironmentChoice& choice);

// Who answers the calls of one run, ready to be asked.
struct AnsweredRun {
  std::string name;
  bool simulated = false;
  std::unique_ptr<Timeline> timeline;
  std::unique_ptr<Executor> executor;
};
Result<AnsweredRun> BeginRun(const OpenedEnvironment& opened, std::string name, uint64_t seed);

// Where the rows of each task file of a recipe have what ([environment.keys]), by file; empty for
// an environment that is named.
Result<std::map<std::string, TaskKeys>> TaskKeysOf(const EnvironmentChoice& choice);

}  // namespace hone
