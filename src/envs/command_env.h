#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "envs/environment.h"

namespace hone {

struct CommandEnvOptions {
  std::string name = "command";
  std::vector<std::string> command;  // the program and its arguments
  EnvironmentKind kind = EnvironmentKind::kMultiTurn;
  std::vector<std::string> hidden_tools;
  std::chrono::milliseconds deadline{30000};  // of one request
  int64_t processes = 1;                      // that episodes are spread over
};

// An environment that is any program: it reads requests and writes replies, one JSON object a line
// (docs/environments.md).
//
//   {"method": "reset", "task": {...}, "seed": 7}           {"episode": "1", "messages": [...]}
//   {"method": "step", "episode": "1", "turn": {...}}       {"user": "...", "notices": [...],
//                                                            "ending": "answered", "blame": "none",
//                                                            "calls": [...], "final_state": {...}}
//   {"method": "resume", "episode": "1", "results": [...]}  as to step
//   {"method": "clone", "episode": "1"}                     {"episode": "2"}
//   {"method": "close", "episode": "1"}                     {}
//
// A reply {"error": "..."} to reset and clone is an error. Everything that goes wrong in between
// (a program that dies, hangs, or writes something else) ends the episode as `failed`, blame
// environment. The program is then replaced, and its other episodes are built again from what they
// were told. `processes` of the program stand ready from the first reset on; each serves any number
// of episodes.
std::shared_ptr<const Environment> NewCommandEnvironment(std::shared_ptr<const Toolbox> tools,
                                                         const CommandEnvOptions& options);

}  // namespace hone
