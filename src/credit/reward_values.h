#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "credit/group.h"

// From reward terms to the numbers that a channel compares.
//
// What is absent is not zero. A trajectory's sum is absent (and the trajectory leaves the
// statistics) when no term of it has a value, when a term that some other trajectory of the group
// has for the trajectory as a whole has no value here, or when one of its calls has no value while
// other calls of the group have. A trajectory without calls has made no calls: its sum over calls
// is 0. So nobody gains by what was not scored in others.

namespace hone {

// Terms by name: "*" is all, "criterion:*" all that begin so.
struct Selection {
  std::vector<std::string> names;
  std::vector<std::string> except;

  bool Has(std::string_view name) const;
};

// The names under which the rewards of single calls go.
const std::vector<std::string>& CallTermNames();

// One number per unit of every trajectory, or none.
using UnitValues = std::vector<std::vector<std::optional<double>>>;

// One unit per trajectory: the weighted sum of the selected terms.
UnitValues TrajectorySums(const Group& group, const Selection& selection);

// The largest weight, by its size, of the selected terms that have a value; 1 where there are none.
double LargestWeight(const Group& group, const Selection& selection);

// One unit per turn: the weighted sum of the terms that were earned on it; 0 where there are none.
// Terms of the trajectory as a whole are earned on its last turn. Absent for all turns of a
// trajectory whose sum is.
UnitValues TurnSums(const Group& group, const Selection& selection);

// One unit per action: the weighted sum of the terms that were earned on it, absent without any.
UnitValues ActionSums(const Group& group, const Selection& selection);

// The same, and behind the actions of a trajectory one unit for each call that it left out (the
// term `omitted`). So who stopped is compared with those who made the call of that number. What
// such a unit gets belongs to the trajectory's last turn.
UnitValues CallSums(const Group& group, const Selection& selection);

// Whether any term of the group that the selection has carries a value.
bool AnyValue(const Group& group, const Selection& selection);

// Whether the trajectory's outcome is above `threshold` (unweighted, mean over its terms); absent
// when it was not scored.
std::optional<bool> IsCorrect(const Trajectory& trajectory, const Selection& outcome,
                              double threshold);

}  // namespace hone
