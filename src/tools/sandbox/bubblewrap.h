#pragma once

#include <string>
#include <vector>

namespace hone {

// How bubblewrap is to build a room for a program.
struct BubblewrapRoom {
  std::vector<std::string> readable;     // paths of this machine, at the same place inside
  std::string scratch;                   // a folder of this machine, at kScratchInside; empty: none
  uint64_t temporary_bytes = 64 << 20;   // how much /tmp holds
  std::vector<std::string> environment;  // "NAME=value"
  std::string directory;                 // inside
  int filter_descriptor = -1;            // where the seccomp program can be read; negative: none
  bool as_first_process = false;         // the program itself is process 1 and reaps
};

inline constexpr const char* kScratchInside = "/scratch";

// The command line that runs `command` in it: namespaces of its own for users, processes, IPC, host
// name, cgroups, network and mounts; nothing writable but /tmp and the scratch folder; it dies
// with its parent.
std::vector<std::string> BubblewrapCommand(const BubblewrapRoom& room,
                                           const std::vector<std::string>& command);

}  // namespace hone
