#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// Any program as tools, kept running (tools/command_process.h has the lines it reads and writes).
// A program that hung, died or printed nonsense is killed and replaced before the next call.
// `processes` of it are started ahead, so that calls and trajectories find one that has loaded.
//
// A program that announces {"sessions": "many"} keeps the state of trajectories apart by itself: it
// then has sessions, whatever `per_session` says, and its processes are shared by them.
struct CommandOptions {
  std::vector<std::string> command;      // program and arguments
  std::string directory;                 // where it runs; empty: here
  std::vector<std::string> environment;  // "NAME=value"
  bool inherit_environment = true;       // `environment` is added to ours; else it is all there is
  // A JSON file with its tools. Empty: the first line it prints is {"tools": [...]}.
  std::string specs;
  int64_t processes = 1;  // that answer calls at the same time
  // Each trajectory has a program of its own, which may keep state; `processes` is then how many
  // work at the same time. The line's "session" is the seed. Equal calls must make equal state.
  bool per_session = false;
  // A trajectory has one of the processes to itself, which is told to reset before: also where the
  // program announces {"reset": true}. At most `processes` trajectories are under way then.
  bool reset = false;
  int64_t startup_ms = 10000;
  int64_t max_line_bytes = 8 << 20;
};
CommandOptions ReadCommandOptions(RecipeTable table);

// Starts the program once to learn its tools, unless `specs` says them.
Result<std::shared_ptr<Toolkit>> NewCommandToolkit(const CommandOptions& options);

}  // namespace hone
