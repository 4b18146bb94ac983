#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace hone {

// What an evaluation that was written down (Evaluation::ToJson) shows of each kind of task: what
// is done, and what is called for it. Cells are text; "-" is nothing to count.
struct KindTable {
  std::vector<std::string> columns;  // "success", ..., then each tool: its calls per task
  struct Row {
    std::string kind;
    std::vector<std::string> cells;
  };
  std::vector<Row> rows;
};

// Empty where the evaluation is null, or older than these figures. Of more than a dozen kinds with
// families it is of the families.
KindTable KindTableOf(const Json* evaluation);

}  // namespace hone
