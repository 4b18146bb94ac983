#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "simulate/simulator_options.h"
#include "tools/modes.h"
#include "tools/tool_recipe.h"

namespace hone {

// Who answers the calls of a run, as a recipe says it (docs/simulation.md):
//
//   [answers]
//   mode = "simulate"         # live, record, replay, replay-else-simulate or simulate
//   journal = "twin.sqlite"   # what this run was answered; live and simulate can do without
//   waits = false             # whether latencies of [[conditions]] really pass
//   recorded = "real.sqlite"  # what the real tools answered, for the simulator; else the journal
//   [simulator]               # who plays the tools (simulate/simulator_options.h)
//   [user]                    # who plays the user, in environments that ask for one
//   [[faults]]                # what goes wrong on purpose (tools/faults.h)
//   [[conditions]]            # what real tools cost and how long they take (tools/conditions.h)
//   [redact]                  # what is kept secret (tools/journal/redact.h)
//
// So one recipe is an environment with real tools and its simulated twin; the mode is the
// difference. Everything is read in every mode.
struct BackendOptions {
  ToolMode mode = ToolMode::kLive;
  std::string journal, recorded;  // files
  std::optional<SimulatorOptions> simulator;
  std::optional<ToolkitOptions> user;  // a toolkit of the tool `user` (simulate/user_simulator.h)
  std::vector<FaultRule> faults;
  std::vector<ServingConditions> conditions;  // in training, of tools that are part of the program
  bool waits = false;  // their latencies pass on the machine's clock, not on a virtual one
  RedactionOptions redaction;

  // Whether any tool is asked in earnest.
  ToolUse use() const;
};

// Only reads; what is wrong is a problem of the recipe (Recipe::Finish). What the recipe does not
// say stays as it is in `backend`.
BackendOptions ReadBackend(RecipeTable root, BackendOptions backend = {});

// What a backend lacks for its mode, or nothing: for those who change the mode of a backend they
// read.
std::optional<std::string> ProblemOf(const BackendOptions& backend);

// The toolbox of a run: the recipe's tools, and last the user where the recipe has one. Starts what
// is asked in earnest and what is not described.
Result<std::shared_ptr<const Toolbox>> MakeTools(const BackendOptions& backend,
                                                 std::vector<ToolkitOptions> tools);

// `tools` where the backend has no user; else who has the user's own model answer for the user, and
// `tools` all other calls: who plays tools does not play the user. The timeline must outlive it.
std::shared_ptr<Responder> WithUser(const BackendOptions& backend, const Toolbox& toolbox,
                                    std::shared_ptr<Responder> tools, Timeline* timeline,
                                    std::shared_ptr<Journal> journal);

// What an executor is made of.
struct BackendParts {
  ExecutorOptions options;
  std::shared_ptr<Simulator> simulator;  // null: nobody plays tools
  // Whether the answers are a simulator's, now or when they were recorded: then right answers are
  // those of that world (envs/gold.h).
  bool simulated = false;
};

// `run` is the name that the caller's calls carry in the journal. A run has one simulator from its
// beginning to its end: its version is recorded with it, and another one is an error that says so.
// `seed` is of retries and faults. The timeline must outlive what is made.
Result<BackendParts> MakeBackendParts(const BackendOptions& backend, const std::string& run,
                                      uint64_t seed, const std::shared_ptr<const Toolbox>& toolbox,
                                      Timeline* timeline);

}  // namespace hone
