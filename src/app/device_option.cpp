#include "app/device_option.h"

namespace hone {

Option AddDeviceOption(Command command, std::optional<DeviceKind>* device) {
  return command
      .AddOption(
          "--device",
          [device](const std::string& name) { *device = ParseDeviceKind(name).value(); },
          "where the model computes; else as its run did, or auto: on the GPU where there is one")
      .OneOf({"auto", "cpu", "cuda"});
}

}  // namespace hone
