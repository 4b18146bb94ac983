#pragma once

#include <vector>

#include "credit/group.h"

namespace hone {

// Which policy tokens of a trajectory a channel's value goes to.
enum class TokenMask {
  kAll,
  kOwn,            // those of the unit itself: its action, its turn, its round
  kActions,        // calls (readable or not) and folds, markers included
  kOffActions,     // all others
  kBeforeResult,   // before the first tool result; none where there is none
  kAfterResult,    // behind it; none where there is none
  kWithResult,     // all where there is a tool result, else none
  kWithoutResult,  // all where there is no tool result, else none
  kPlacebo,        // as many as kActions, evenly spread over kOffActions: a control
};

// What belongs to an action: its own tokens, or the thought right before it as well.
enum class ActionReach { kAction, kWithThought };

// Flat spans, ascending and disjoint. For every mask but kOwn.
std::vector<Span> MaskSpans(TokenMask mask, const Trajectory& trajectory,
                            ActionReach reach = ActionReach::kAction);

}  // namespace hone
