#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// In which keys recipes differ, by their resolved texts. `values` has one entry for each recipe, as
// JSON; empty: the recipe does not have the key. What only says where a run is written (its name,
// its folder) is left out.
struct RecipeDifference {
  std::string key;  // "credit.method", "stage.2.steps"
  std::vector<std::string> values;
};
Result<std::vector<RecipeDifference>> DifferencesOf(const std::vector<std::string>& recipes);

Json ToJson(const std::vector<RecipeDifference>& differences);

}  // namespace hone
