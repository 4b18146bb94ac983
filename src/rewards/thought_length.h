#pragma once

#include <cstdint>
#include <memory>

#include "rewards/rewarder.h"

namespace hone {

// What the length of thoughts pays, in tokens of a trajectory's thoughts.
struct ThoughtPay {
  // DAPO's soft overlong penalty over thoughts alone: nothing up to most - buffer, then linearly
  // down to -1 at `most` and beyond, times `overlong`.
  int64_t most = 0;  // 0: no penalty
  int64_t buffer = 0;
  double overlong = 1;
  // Among the right trajectories of a group, from 0 for the longest thoughts to this for the
  // shortest. Wrong ones get 0: to be short is no merit of theirs.
  double shorter = 0;
};

// -1 to 0, before it is multiplied.
double OverlongThought(int64_t tokens, const ThoughtPay& pay);
// 0 to 1 of one that is right, where right ones have from `shortest` to `longest` tokens.
double ShortThought(int64_t tokens, int64_t shortest, int64_t longest);

// Terms on the trajectory as a whole: "overlong_thought" where there is a `most`, "short_thought"
// where shorter ones are paid. The latter is missing where nobody says whether the answer is right.
// With one right trajectory, or right ones that are equally long, all get 0.
std::unique_ptr<Rewarder> NewThoughtLength(ThoughtPay pay);

}  // namespace hone
