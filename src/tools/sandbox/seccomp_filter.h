#pragma once

#include <vector>

#include <linux/filter.h>

namespace hone {

// What a confined program may ask of the kernel, beyond what all of them may.
struct SyscallRules {
  bool processes = false;        // start other processes (threads may be started always)
  bool signal_others = true;     // signal other processes
  bool adjust_others = true;     // change limits and priorities of other processes
  bool leave_group = true;       // leave its process group or session
  bool file_metadata = true;     // change modes, owners, times and attributes of files
  bool truncate_paths = true;    // truncate a file by its name
  bool outlive_parent = false;   // say what it gets when its parent dies, instead of being killed
  bool allocate_ahead = true;    // give files room without writing to them: gigabytes in no time
  bool pass_descriptors = true;  // send open files, which nobody has open while they are under way
  bool hide_files = true;        // keep others from seeing what files it has open
};

// A seccomp program (x86-64, aarch64) that lets through a list of harmless system calls, and
// answers all others with an error: EPERM for those a program may well try (network, ptrace, mount,
// namespaces, ...), ENOSYS for the rest, so that C libraries fall back on what they know. Calls of
// a foreign architecture end the process. Sockets: only connected pairs of streams. A process that
// is started stays below the one that installed the filter, in the tree of processes.
//
// Where signal_others or adjust_others is false the program may name its own process only, by 0 or
// by kOwnProcess (tools/sandbox/launch.h), which whoever installs the filter replaces by the
// process id.
std::vector<sock_filter> SeccompFilter(const SyscallRules& rules);

}  // namespace hone
