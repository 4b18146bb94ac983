#pragma once

#include "engine/device/device_api.h"

namespace hone {

// A device in plain, sequential C++: every kernel of device_api.h. It is the definition that other
// devices are compared with, and what tests of the host side run on where there is no GPU.
//
// Its memory is the host's, 1 GiB of it unless HONE_REFERENCE_MEMORY says how many MiB. Fresh
// memory has all bits set, which reads as not-a-number. What a GPU may not do while it records, and
// transfers that reach beyond the memory, are failures here as well.
const DeviceApi* ReferenceDevice();

}  // namespace hone
