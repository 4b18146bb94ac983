#pragma once

#include <span>
#include <string>
#include <vector>

#include "credit/method.h"

// Whether a method finds the terms it is about. One that does not would quietly be another method,
// or none.

namespace hone {

// What the method needs, its default included.
std::vector<TermNeed> NeedsOf(const Method& method);

// The needs that a reward which gives only these terms leaves open, each in words: "one of the
// terms execution, contribution". Empty: the method fits.
std::vector<std::string> OpenNeeds(const Method& method, const std::vector<std::string>& given);

// The error: trajectories of the batch are scored, and none has a term that the method needs.
// Scores without any value, and trajectories that ended by others' fault, say nothing either way.
Result<void> CheckTermNeeds(const Method& method, std::span<const Group> batch);

}  // namespace hone
