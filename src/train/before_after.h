#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluate/figure_text.h"

namespace hone {

// One line of what a run changed, on the real tools.
struct BeforeAfterRow {
  std::string label;  // "success, sampled"
  std::string about;  // one line, for who does not know the word; may be empty
  std::optional<FigureCell> before, after;
  bool main = false;  // one of the figures that people look for first
  int indent = 0;     // a part of the row above it
};

struct BeforeAfterTable {
  std::string split;  // "test"
  int64_t tasks = 0;
  std::vector<BeforeAfterRow> rows;
};

// From the evaluations of a run (TrainingState::evaluations): test first, then what was measured
// beside it. A table without anything in it is left out, and so is a row.
std::vector<BeforeAfterTable> BeforeAndAfter(const Json& evaluations);

}  // namespace hone
