#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/sandbox/process_tree.h"
#include "tools/sandbox/sandbox.h"

namespace hone {

// Bounds what the kernel has no limit for, by looking at a sandbox from outside while it runs:
//   - the bytes of its scratch folder, files included that have been removed and are still open or
//     mapped; what cannot be seen (a folder that cannot be listed) counts as too much
//   - how many processes run at once, threads not counted
//   - the memory of all its processes together
// Between two looks a program can go beyond a bound by what it can write in that time. One thread
// at a time.
class SandboxWatch {
 public:
  // `scratch`: as the program's; null: the sandbox has its own, which is bounded. `supervised`: the
  // program started is a supervisor, which does not count.
  SandboxWatch(const Sandbox& sandbox, const Scratch* scratch, bool supervised);

  // What the sandbox that was started as `leader` has too much of: "started more than 2 processes".
  // Nothing: it is within its bounds.
  std::optional<std::string> Excess(pid_t leader);

  // Stops all programs of the sandbox, threads and timers included, and lets them go on.
  void Pause(pid_t leader);
  void Continue(pid_t leader);

  // The supervisor has another program from now on.
  void Renewed() { only_.reset(); }

 private:
  std::vector<pid_t> Programs(pid_t leader);
  bool FolderIsFull(const std::vector<pid_t>& programs);

  SandboxOptions limits_;
  std::optional<LaunchOptions::Identity> identity_;
  const Scratch* scratch_;
  bool must_show_;             // its programs cannot keep us from seeing what they have open
  std::string inside_;         // where its programs find the folder
  int first_depth_;            // of programs, in the tree of processes
  int unseen_ = 0;             // looks in a row at which a process did not show what it has open
  std::optional<pid_t> only_;  // the program, where there can be no other
};

}  // namespace hone
