#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone {

// Where two saved states of an engine part.
struct WeightsDifference {
  std::string file;              // inside the folder: "model.safetensors"
  std::string tensor;            // empty: the file as a whole
  std::vector<int64_t> element;  // its indices in the tensor
  int bit = -1;                  // the only one that differs, 0 the lowest; -1: several, or none
  std::string derived, stored;

  // "model.safetensors, lm_head.weight[3, 7], bit 12".
  std::string Place() const;

  bool operator==(const WeightsDifference&) const = default;
};

struct WeightsComparison {
  int64_t numbers = 0;  // of tensors that were looked at
  std::optional<WeightsDifference> difference;
};

// Compares every file of the first folder (what Engine::Save writes) with that of the same name in
// the second and stops at the first difference: tensors bit by bit, JSON by what it says. A file of
// the second that is missing or cannot be read is a difference; one of the first is an error.
Result<WeightsComparison> CompareWeights(const std::filesystem::path& derived,
                                         const std::filesystem::path& stored);

}  // namespace hone
