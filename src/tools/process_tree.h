#pragma once

#include <vector>

#include <sys/types.h>

namespace hone {

// A process as /proc shows it.
struct TreeProcess {
  pid_t pid = 0;
  int depth = 0;  // 0: the root, 1: its children, ...
  char state = '?';

  bool lives() const { return state != 'Z' && state != 'X' && state != '?'; }
};

// The root and all processes below it, parents first, at most a few thousand. What comes and goes
// meanwhile may be missed. Where a root adopts (PR_SET_CHILD_SUBREAPER, which Launch sets) nobody
// below it gets away by losing its parent.
std::vector<TreeProcess> ProcessTree(pid_t root);

}  // namespace hone
