#pragma once

#include <string>
#include <vector>

#include "base/rng.h"
#include "record/score.h"

// What methods are tried on.

namespace hone::lab {

// The settings a method is tried with where its defaults read terms that the specimens do not have:
// "igpo:turns=call".
std::string SpecOf(const std::string& method);

// A call of a random group, and whether it was right.
struct JudgedCall {
  int32_t leaf = 0;
  Span tokens;  // flat
  bool right = false;
};

struct RandomGroup {
  ScoredTree record;  // valid, every leaf scored
  std::vector<JudgedCall> calls;
};

// Four to eight trajectories of a task, half of the groups with shared prefixes: plain tokens and
// up to three calls each. A right call earns 1, a wasted one -0.25, one that fails -0.5 ("call" on
// its tokens); the outcome is 1 or 0, more often 1 after right calls only. With `criteria`, the
// same as a checklist of right calls. The first trajectory is greedy when asked for.
struct RandomGroupOptions {
  bool criteria = false;
  bool greedy = false;
};
RandomGroup MakeRandomGroup(Rng rng, const RandomGroupOptions& options = {});

}  // namespace hone::lab
