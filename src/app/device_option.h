#pragma once

#include <optional>

#include "app/command_line.h"
#include "engine/device/device.h"

namespace hone {

// --device of a command that loads a model. Absent: as its run says where it is of one, else auto.
Option AddDeviceOption(Command command, std::optional<DeviceKind>* device);

}  // namespace hone
