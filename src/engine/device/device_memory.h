#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/device_runner.h"
#include "engine/sampler.h"

namespace hone {

// A step of a run, as far as memory is concerned.
struct DeviceStepShape {
  int64_t tokens = 0;   // of one Accumulate; 0: nothing is trained
  int64_t length = 0;   // of a sequence
  int64_t prompt = 0;   // its tokens when drawing begins; the others are drawn one by one
  int64_t leaves = 1;   // paths of a tree that is trained on, behind the same prompt
  int64_t node = 0;     // tokens of a node behind the prompt; 0: as many as there are
  int64_t live = 0;     // sequences that are drawn at a time; 0: nothing is drawn
  bool scored = false;  // the tokens go through LogProbs, too
  SamplerOptions sampler;
  OptimizerOptions optimizer;
};

struct DeviceMemory {
  // What is held after the step, in bytes by name, as DeviceRunner::Memory names it.
  std::vector<std::pair<std::string, int64_t>> parts;
  // The most at a time: with the pages of drawing, which are given back before training.
  int64_t peak = 0;
  // The most while products are tried: when the model is opened, and when gradients of a shape
  // come for the first time.
  int64_t trying = 0;

  // At any time; and what has to be free for it, with the libraries of a device.
  int64_t Most() const;
  int64_t Needed() const;
};

// What such a step takes on a GPU, before anything is allocated there: the runner itself runs on a
// device that only counts (counting_device.h), on made-up sequences.
DeviceMemory DeriveDeviceMemory(const Model& model, const DeviceRunnerOptions& options,
                                const DeviceStepShape& shape);

}  // namespace hone
