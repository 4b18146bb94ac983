#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/model_config.h"

namespace hone {

// Cosines and sines of the rotary angles of one kind of layer, by absolute position.
class RopeTable {
 public:
  // Grows on demand: a model of many positions costs what is used of it.
  explicit RopeTable(const ModelConfig& config,
                     LayerTraits::Rope rope = LayerTraits::Rope::kGlobal);

  // Makes room for positions below `positions`; not to be called while others read.
  void Reach(int64_t positions);
  // Rotates one head's vector for a position, in place; `backward` turns it the other way.
  void Rotate(int64_t position, float* head, const Kernels& kernels, bool backward = false) const;
  // [positions][RotaryDim() / 2], of all positions that it reaches.
  const std::vector<float>& cosines() const { return cosines_; }
  const std::vector<float>& sines() const { return sines_; }

 private:
  int64_t half_;
  double length_;  // of what is turned, beside what it was
  int64_t positions_ = 0;
  std::vector<float> frequencies_;
  std::vector<float> cosines_, sines_;  // [positions][half]
};

}  // namespace hone
