#pragma once

#include <algorithm>
#include <optional>

#include "engine/engine.h"
#include "train/stage.h"

namespace hone {

// How long the device that computes was at work for an engine since some moment; of the processor
// it says nothing. Spans of several engines overlap: where others draw ahead it is not asked.
class DeviceBusy {
 public:
  // From now on. Null: there is no engine yet.
  void Restart(const Engine* engine) { before_ = Seconds(engine).value_or(0); }

  // device_busy_share of so many seconds.
  void AddShare(const Engine* engine, double wall, StepValues* values) const {
    const std::optional<double> now = Seconds(engine);
    // An engine that was opened since has a count of its own.
    if (now && wall > 0) (*values)["device_busy_share"] = (*now - std::min(before_, *now)) / wall;
  }

 private:
  static std::optional<double> Seconds(const Engine* engine) {
    const std::optional<DeviceUse> use = engine == nullptr ? std::nullopt : engine->Use();
    return use ? std::optional(use->busy_seconds) : std::nullopt;
  }

  double before_ = 0;
};

}  // namespace hone
