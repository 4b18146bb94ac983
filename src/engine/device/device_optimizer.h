#pragma once

#include "engine/device/device_weights.h"
#include "engine/optimizer.h"

namespace hone {

// The steps of Optimizer, on a device: AdamW and Muon over the weights where they lie.
class DeviceOptimizer {
 public:
  // With `small`, AdamW's moments take a byte each (moment_codes.h). `weights` must outlive it.
  DeviceOptimizer(DeviceWeights* weights, std::shared_ptr<Device> device, bool small);

  // As Optimizer::Step; the gradients are cleared.
  double Step(const OptimizerOptions& options);

  // To and from the state that is saved, float32 in both cases: codes survive the way there and
  // back.
  void Download(Optimizer* optimizer) const;
  void Upload(const Optimizer& optimizer);

  // Moments, and room for the steps of Muon.
  int64_t bytes() const;

 private:
  void AdamW(const std::vector<DeviceWeights::Run>& runs, const AdamWUpdate& update);
  void Orthogonal(const OptimizerOptions& options, size_t parameter, float decay);

  DeviceWeights* weights_;
  std::shared_ptr<Device> device_;
  bool small_;
  DeviceBuffer first_, second_;  // as the values lie; float32 or codes
  DeviceBuffer first_scale_, second_scale_;
  DeviceBuffer numbers_;  // squares, norm, scale
  DeviceBuffer step_, room_;
  int64_t steps_ = 0, head_steps_ = 0;
};

}  // namespace hone
