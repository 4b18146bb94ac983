#pragma once

#include <vector>

#include <sys/types.h>

namespace hone {

// A process as /proc shows it.
struct TreeProcess {
  pid_t pid = 0;
  int depth = 0;     // 0: the root, 1: its children, ...
  char state = '?';  // of its first thread that has not ended; 'Z': all have

  bool lives() const { return state != 'Z' && state != 'X' && state != '?'; }
};

// The threads of a process that have not ended, by the names that /proc has for them. Its first one
// may end before the others; of a thread that has ended /proc shows neither files nor memory.
std::vector<pid_t> LivingThreads(pid_t pid);

// The root and all processes below it, parents first, at most a few thousand. What comes and goes
// meanwhile may be missed. Nobody below gets away by losing its parent where the root adopts
// (PR_SET_CHILD_SUBREAPER, which Launch sets) and SeccompFilter keeps it so.
std::vector<TreeProcess> ProcessTree(pid_t root);

}  // namespace hone
