#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <sys/types.h>

#include "base/result.h"

namespace hone {

// A program to be started, and the rights it gives up before it runs.
struct LaunchOptions {
  std::vector<std::string> command;      // command[0] is the absolute path of the program
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string directory;                 // working directory; empty: the caller's
  // What become its descriptors 0, 1, 2, ... (at most 16); it gets no others. The caller keeps its.
  std::vector<int> descriptors;

  // A setrlimit resource and its value.
  struct ResourceLimit {
    int resource = 0;
    uint64_t value = 0;
  };
  std::vector<ResourceLimit> limits;

  // Where we are root: whom it runs as instead.
  struct Identity {
    uint32_t user = 0, group = 0;
  };
  std::optional<Identity> identity;

  int landlock_ruleset = -1;        // negative: none
  std::vector<sock_filter> filter;  // of system calls; empty: none. kOwnProcess is filled in
  bool same_addresses = false;      // no address randomisation, where the system lets us
  int death_signal = 9;             // what it gets when the thread that started it ends: SIGKILL
};

// Stands for the program's own process id in a filter.
inline constexpr uint32_t kOwnProcess = 0x7ffffffe;

// Starts it in a session and process group of its own, without capabilities and unable to gain
// rights (no_new_privs). It is killed when the *thread* that called this ends. Descendants whose
// parents end become its children. The error says which step failed; no process is left then. The
// caller reaps the child.
Result<pid_t> Launch(const LaunchOptions& launch);

}  // namespace hone
