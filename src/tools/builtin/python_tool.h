#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// The tool `python`: code in, out comes what it printed and, as on a console, the value of its last
// expression. It runs confined (tools/sandbox/sandbox.h).
struct PythonOptions {
  std::string name = "python";       // of the tool
  bool state = false;                // variables live from call to call of a trajectory
  int64_t timeout_ms = 10000;        // of one call
  int64_t memory_mb = 512;           // of a process, and of all together
  int64_t max_processes = 1;         // at once; 1: the code may start none
  int64_t max_output_bytes = 65536;  // of each stream, and of the value
  bool last_line_of_errors = false;  // of a traceback and of standard error, and no more
  int64_t max_reply_chars = 0;       // of the whole reply; 0: as long as it is
  int64_t scratch_mb = 64;           // in the folder it works in
  int64_t workers = 2;               // that stand ready; without state also how many calls at once
  std::string isolation = "auto";    // see SandboxOptions
  std::string python = "/usr/bin/python3";
  std::vector<std::string> readable;  // further paths the code may read, e.g. of a virtual env
};

PythonOptions ReadPythonOptions(RecipeTable table);

// A toolkit with the one tool. The error says why code cannot be run here.
//
// Without state each call has an interpreter of its own, seeded alike, so that only the clock and
// os.urandom can tell two equal calls apart: the tool reads the resource "clock". With state it
// writes the resource "session"; a session is copied by replaying its calls (the random module is
// seeded from Open's seed).
//
// What the code does wrong is the agent's fault: exceptions, and limits of the tool, which the
// reply names. After a limit the interpreter is gone, and with it the session's state.
Result<std::shared_ptr<Toolkit>> NewPythonToolkit(const PythonOptions& options);

}  // namespace hone
