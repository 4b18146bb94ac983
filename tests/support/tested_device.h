#pragma once

#include <cstdlib>

#include "engine/device/device.h"

namespace hone {

// What the engine's tests run on: the processor, or what HONE_TEST_DEVICE names. ./dev gpu runs
// them again on the GPU, ctest on the reference device.
inline DeviceKind TestedDevice() {
  const char* asked = std::getenv("HONE_TEST_DEVICE");
  return asked == nullptr ? DeviceKind::kCpu : ParseDeviceKind(asked).value();
}

}  // namespace hone
