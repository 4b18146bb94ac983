#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/safetensors.h"

namespace hone {

// How a family's files hold a model's parameters. Most tensors of a file are one parameter; Phi-3
// has queries, keys and values in one matrix, and gpt-oss all experts of a layer, inputs before
// outputs, gate and up taking turns.

// Where the numbers of a parameter lie in a tensor: entry [i][j] of the parameter (of a vector:
// [i][0]) at offset + i * row_step + j * column_step.
struct StoredPart {
  int parameter;
  int64_t offset = 0, row_step = 0, column_step = 0;
};
struct StoredTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<StoredPart> parts;

  // One parameter, as it lies.
  bool plain() const { return parts.size() == 1 && parts[0].row_step == 0; }
  int64_t count() const;
};

// Every parameter but those of adapters is in one of them.
std::vector<StoredTensor> StoredTensorsOf(const Model& model);

// Calls visit(index in the tensor, index in the parameter) for every number of a part.
template <typename Visit>
void ForStored(const StoredPart& part, const Parameter& parameter, Visit visit) {
  const int64_t count = parameter.count();
  const int64_t columns = parameter.shape.size() > 1 ? parameter.shape[1] : 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = part.row_step == 0 ? i
                                          : part.offset + i / columns * part.row_step +
                                                i % columns * part.column_step;
    visit(static_cast<size_t>(at), static_cast<size_t>(i));
  }
}

// All numbers of a tensor; `of` gives those of a parameter: the model's values, or gradients.
template <typename Of>
std::vector<float> GatherStored(const StoredTensor& tensor, const Model& model, Of of) {
  std::vector<float> stored(static_cast<size_t>(tensor.count()));
  for (const StoredPart& part : tensor.parts) {
    const auto& own = of(part.parameter);
    ForStored(part, model.parameters[static_cast<size_t>(part.parameter)],
              [&](size_t at, size_t i) { stored[at] = own[i]; });
  }
  return stored;
}

}  // namespace hone
