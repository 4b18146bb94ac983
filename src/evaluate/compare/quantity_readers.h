#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/compare/comparison.h"

// What is read of the runs of a comparison, quantity by quantity.

namespace hone {

// What a run says about a quantity: one value per task, or one in all. Absent: nothing is known of
// that task.
using Cells = std::vector<std::optional<double>>;

struct QuantityReader {
  QuantityKind kind;
  std::function<Cells(const ComparedRun&)> read;
};

// All quantities of a section, in the order of its tables.
std::vector<QuantityReader> ReadersOf(const ComparedSection& section);

// A figure of an evaluation, as one value.
Cells OfAll(const ComparedRun& run, const std::string& evaluation, std::string_view figure);

// Success of each task; of evaluations that did not write it down, of all of them.
Cells Outcomes(const ComparedRun& run, const std::string& evaluation);

// How much was learned how soon, whether or not a goal was reached: success on dev over all
// trajectories, between evaluations along a straight line. Before the first of them it comes from
// what was measured before rl, so that runs that were looked at at other times can be compared.
Cells MeanOfDev(const ComparedRun& run);

}  // namespace hone
