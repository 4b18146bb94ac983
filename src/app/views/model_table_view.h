#pragma once

#include <string>
#include <vector>

#include "app/models/model_table.h"
#include "app/terminal.h"

namespace hone {

// A line per model and step, with what was found.
std::string ModelTableView(const std::vector<ModelRow>& rows, const Terminal& terminal);

// A table for a page: a row per model, a column per step.
std::string ModelTableMarkdown(const std::vector<ModelRow>& rows);

}  // namespace hone
