#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/buffer.h"
#include "engine/device/device_buffer.h"
#include "engine/kernels/kernels.h"
#include "engine/model.h"

namespace hone {

// A model's weights on a device, uploaded once.
//
// All parameters lie one after the other, in the model's order: as operands of products (in bf16,
// or float32), and, for those that are trained and for vectors, as float32 values. Matrices that
// multiply the same input (q, k, v; gate, up) follow each other without a gap: one product does
// them all. The others begin at multiples of kMomentBlock. In float32, operands and values are the
// same memory.
class DeviceWeights {
 public:
  // `model` must outlive it.
  DeviceWeights(const Model* model, std::shared_ptr<Device> device, Precision precision);

  // From the model; the parameters from `first` on.
  void Upload(size_t first = 0);
  // Values of trained parameters, to the model.
  void Download(Model* model) const;
  // Room for gradients, which lie as the values do. All are blank: zeros that are not written down
  // before somebody wants to add to them.
  void MakeGradients();
  void ClearGradients();
  // ModelRunner's.
  void SetGradientsAside();
  void AddGradientsAside();
  Gradients TakeGradients();
  void PutGradients(const Gradients& gradients);

  Element element() const { return element_; }
  const Model& model() const { return *model_; }
  bool Trained(int parameter) const {  // false for -1
    return parameter >= 0 && model_->parameters[static_cast<size_t>(parameter)].trained;
  }
  // Null for -1.
  const void* Operand(int parameter) const;
  float* Value(int parameter) const;
  float* Gradient(int parameter) const;  // to be added to; null where it is not trained
  // Of `count` parameters that follow each other, for who writes all of it: `add` says whether what
  // is there is to be added to.
  struct Whole {
    float* gradient;  // null where the first is not trained
    bool add;
  };
  Whole WholeGradient(int first, int count) const;

  // Consecutive parameters that are trained, as one piece of the values.
  struct Run {
    int64_t offset, count;  // into values, gradients and moments
    uint16_t* rounded;      // the operands; null in float32
    float *value, *gradient;
  };
  // Those of which `chosen` is true.
  std::vector<Run> Runs(const std::vector<bool>& chosen) const;
  int64_t value_count() const { return value_count_; }
  int64_t OffsetOf(size_t parameter) const { return value_offset_[parameter]; }

  int64_t operand_bytes() const { return operands_.bytes(); }
  int64_t value_bytes() const { return values_.bytes(); }
  int64_t gradient_bytes() const { return gradients_.bytes(); }

 private:
  void WriteZeros(size_t parameter) const;
  int64_t SizeOf(size_t parameter) const {
    return static_cast<int64_t>(model_->parameters[parameter].value.size());
  }

  const Model* model_;
  std::shared_ptr<Device> device_;
  Element element_;
  std::vector<int64_t> operand_offset_;  // per parameter, in elements
  std::vector<int64_t> value_offset_;    // -1: not held in float32
  int64_t operand_count_ = 0, value_count_ = 0;
  DeviceBuffer operands_, values_, gradients_;
  std::vector<DeviceBuffer> aside_;  // the last one is the last that was set aside
  std::vector<DeviceBuffer> spare_;  // memory of those that came back
  mutable std::vector<bool> blank_;  // per parameter: how a gradient is kept, not what it is
};

}  // namespace hone
